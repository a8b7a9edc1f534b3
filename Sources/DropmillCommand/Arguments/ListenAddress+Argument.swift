import ArgumentParser
import Dashboard

extension ListenAddress: ExpressibleByArgument {
    init?(argument: String) { self.init(argument) }
}
