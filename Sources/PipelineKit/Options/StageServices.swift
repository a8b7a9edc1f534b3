/// What the program creates once for all stages, such as processes that parse for them. Keyed by type: only creator and
/// users know it.
public struct StageServices: Sendable {
    private var services: [ObjectIdentifier: any Sendable] = [:]

    /// None.
    public init() {}

    /// Adds one, in the place of any of its type.
    public mutating func add<Service: Sendable>(_ service: Service) {
        services[ObjectIdentifier(Service.self)] = service
    }

    /// The one of a type, or nil where the program made none.
    public func service<Service: Sendable>(_ type: Service.Type) -> Service? {
        services[ObjectIdentifier(type)] as? Service
    }
}
