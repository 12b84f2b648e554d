import Testing

@Suite struct NetManagerPlaceholder {}
