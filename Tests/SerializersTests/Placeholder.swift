import Testing

@Suite struct SerializersPlaceholder {}
