/// What stages share and a program makes once, such as processes that parse for them. By type: only who makes one and
/// who asks for it know what it is.
package struct StageServices: Sendable {
    private var services: [ObjectIdentifier: any Sendable] = [:]

    /// None yet.
    package init() {}

    /// Adds one, in the place of any of its type.
    package mutating func add<Service: Sendable>(_ service: Service) {
        services[ObjectIdentifier(Service.self)] = service
    }

    /// The one of a type, or nil where the program made none.
    package func service<Service: Sendable>(_ type: Service.Type) -> Service? {
        services[ObjectIdentifier(type)] as? Service
    }
}
