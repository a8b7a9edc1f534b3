/// What routes work with.
struct Site: Sendable {
    let daemon: DaemonLink
    let events: EventHub
    let gatekeeper: Gatekeeper
    let isPublic: Bool
    let version: String
    /// How many uploads begin at a time, which the daemon is asked about.
    let uploads = Permits(1)
    let folders = FolderUploads<FolderUpload>()
    /// Whether cookies go over TLS only.
    let isSecure: Bool
}
