// One import gives the manager and its bridges.
@_exported public import NetManager
