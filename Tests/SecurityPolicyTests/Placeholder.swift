import Testing

@Suite struct SecurityPolicyPlaceholder {}
