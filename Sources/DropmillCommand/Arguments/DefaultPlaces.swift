import Files
import SystemPackage

/// Where the pipelines and the state are if nobody says so: here, where there is something here; else where an
/// installed service has them.
struct DefaultPlaces {
    static let installed = (
        pipelines: FilePath("/etc/dropmill/pipelines"), state: FilePath("/var/lib/dropmill")
    )

    let pipelines: FilePath
    let state: FilePath

    /// `hasPipelines`: whether they were named, so that it is not the installed service that is meant.
    init(
        hasPipelines: Bool = false, state configured: String? = nil,
        isThere: (FilePath) -> Bool = { FileStatus.of($0) != nil }
    ) {
        let (here, stateHere) = (FilePath("pipelines"), FilePath(".dropmill-state"))
        let isInstalled = !isThere(here) && isThere(Self.installed.pipelines)
        pipelines = isInstalled ? Self.installed.pipelines : here
        if let configured, !configured.isEmpty {
            state = FilePath(configured)
        } else {
            state = isInstalled && !hasPipelines && !isThere(stateHere) ? Self.installed.state : stateHere
        }
    }
}
