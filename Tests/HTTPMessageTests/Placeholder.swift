import Testing

@Suite struct HTTPMessagePlaceholder {}
