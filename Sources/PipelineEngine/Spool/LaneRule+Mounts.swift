import CLinux
import Files
package import PipelineKit
import SystemPackage

extension LaneRule {
    /// Why a pipeline has no lane because of where its folders are by now; nil where that is no reason: what has to be
    /// copied to another mount is not small work. Where they are is known by what their paths begin with.
    package static func farFolder(of pipeline: Pipeline) -> String? {
        let work: FilePath
        do throws(IOError) {
            work = try WorkFolder.path(for: pipeline)
        } catch {
            return nil
        }
        let own = mount(of: work)
        let far = OwnFolders.targets(of: pipeline).first { target in mount(of: target.path) != own }
        return far.map { "'\($0.path.text)' (`\($0.role)`) is on another mount than the work folder" }
    }

    /// Of a folder, or of where it is to be made.
    private static func mount(of path: FilePath) -> Int64 {
        var folder = path
        while Folder.kind(of: folder, followingLinks: true) == nil, folder.removeLastComponent() {}
        return folder.withPlatformString { dm_mount_id($0) }
    }
}
