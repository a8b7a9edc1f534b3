package import PipelineKit
package import SystemPackage

/// A folder, or the machine, with what was found there.
package struct ExaminedPlace: Sendable {
    /// What it is to its pipeline: `inbox`, `work`, `processed`, `failed`, `move.to`; `state`, `archive`,
    /// `machine`, `daemon`; `stage unpack`.
    package let role: String
    /// Its path; nil if it is not a folder.
    package let path: FilePath?
    package internal(set) var findings: [Finding]

    package init(role: String, path: FilePath?, findings: [Finding]) {
        self.role = role
        self.path = path
        self.findings = findings
    }
}
