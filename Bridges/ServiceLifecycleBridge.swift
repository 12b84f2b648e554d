// Copy this file into a target that depends on NetManager and on ServiceLifecycle (swift-server/swift-service-lifecycle).
import NetManager
import ServiceLifecycle

/// Ends a transport when the application ends.
///
/// Calls that are under way may end within the deadline, and fail as `shutDown` after it: name this service first,
/// since a group ends its services in reverse order.
///
///     let transport = CurlTransport()
///     let api = HTTPSessionManager(configuration, transport: transport)
///     let group = ServiceGroup(services: [TransportService(transport: transport), server], logger: logger)
struct TransportService: Service {
    let transport: CurlTransport
    var deadline: Duration = .seconds(10)

    func run() async throws {
        try? await gracefulShutdown()
        await transport.shutdown(deadline: deadline)
    }
}
