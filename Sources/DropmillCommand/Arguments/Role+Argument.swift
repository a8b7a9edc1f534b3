import ArgumentParser
import Dashboard

extension Role: ExpressibleByArgument {}
