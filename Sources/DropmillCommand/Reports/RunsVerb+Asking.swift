import Control

extension RunsVerb {
    /// Those of the daemon that runs, if it says so.
    static func underWay(in folder: StateFolder) -> [Run] {
        do throws(ControlClient.Problem) {
            return try ControlClient.ask(Self.self, Nothing(), in: folder.path).runs
        } catch {
            return []
        }
    }
}
