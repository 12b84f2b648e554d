// Copy this file into a target that depends on NetManager and on Metrics (apple/swift-metrics).
import Metrics
import NetManager

/// Hands measurements to swift-metrics.
///
///     configuration.eventMonitors = [TelemetryMonitor(MetricsObserver())]
struct MetricsObserver: TelemetryObserver {
    func measured(_ measurement: TelemetryMeasurement) {
        let dimensions = measurement.attributes.sorted { $0.key < $1.key }.map {
            ($0.key, $0.value.description)
        }
        switch measurement.instrument {
        case .histogram:
            Recorder(label: measurement.name, dimensions: dimensions).record(measurement.value)
        case .upDownCounter:
            let meter = Meter(label: measurement.name, dimensions: dimensions)
            if measurement.value < 0 {
                meter.decrement(by: -measurement.value)
            } else {
                meter.increment(by: measurement.value)
            }
        }
    }
}
