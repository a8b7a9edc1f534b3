package import SystemPackage

/// A program that is started for what is not safe in this process: this one, which serves as the helper when it is
/// started with that word alone.
package struct HelperProgram: Sendable {
    private let verb: String
    private let serve: @Sendable () -> Never
    private let add: @Sendable (inout StageServices) -> Void

    /// `make`: what stages start it by, of a path and arguments.
    package init<Service: Sendable>(
        _ verb: String, serve: @escaping @Sendable () -> Never,
        make: @escaping @Sendable (FilePath, [String]) -> Service
    ) {
        self.verb = verb
        self.serve = serve
        add = { @Sendable services in
            // A program may bring one of its own.
            guard services.service(Service.self) == nil else { return }
            services.add(make("/proc/self/exe", [verb]))
        }
    }

    /// Serves until the process that started this one goes, where it was started for one of these helpers.
    package static func serve(_ helpers: [HelperProgram]) {
        guard CommandLine.arguments.count == 2 else { return }
        helpers.first { $0.verb == CommandLine.arguments[1] }?.serve()
    }

    /// Has this program be the helper, where there is no other.
    package func addSelf(to services: inout StageServices) { add(&services) }
}
