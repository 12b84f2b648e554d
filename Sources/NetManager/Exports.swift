// One import gives everything that the contract names: dispatch queues for completions, Foundation's values, and
// the three modules below.
@_exported public import Dispatch
@_exported public import FoundationEssentials
@_exported public import HTTPMessage
@_exported public import SecurityPolicy
@_exported public import Serializers
