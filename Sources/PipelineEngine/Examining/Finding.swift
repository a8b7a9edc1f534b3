package import SystemPackage

/// One thing that was tried, and what came of it.
package struct Finding: Sendable, Equatable {
    /// What it means for somebody who reads it.
    package enum Grade: String, Sendable {
        /// As it should be.
        case good = "ok"
        /// It works, in a way that one should know of.
        case note
        /// Something does not work.
        case problem
    }

    /// What was tried; the words stay the same for programs.
    package enum Check: String, Sendable {
        case fileSystem = "file system"
        case rights
        case trust
        case space
        case events
        case leases
        case ownership
        case times
        case rename
        case watches
        case instances
        case journal
        case user
    }

    /// What was tried.
    package let check: Check
    /// What it means.
    package let grade: Grade
    /// What was found: a sentence without its stop.
    package let fact: String
    /// What can be done about it, where anything needs to be: a sentence without its stop.
    package let remedy: String?

    /// All is well.
    static func good(_ check: Check, _ fact: String) -> Finding {
        Finding(check: check, grade: .good, fact: fact, remedy: nil)
    }

    /// Worth knowing.
    static func note(_ check: Check, _ fact: String, _ remedy: String? = nil) -> Finding {
        Finding(check: check, grade: .note, fact: fact, remedy: remedy)
    }

    /// Not well.
    static func problem(_ check: Check, _ fact: String, _ remedy: String) -> Finding {
        Finding(check: check, grade: .problem, fact: fact, remedy: remedy)
    }
}

/// A folder, or the machine, with what was found there.
package struct ExaminedPlace: Sendable {
    /// What it is to its pipeline: `inbox`, `work`, `processed`, `failed`, `move.to`; `state`, `machine`.
    package let role: String
    /// Where it is; nil for the machine.
    package let path: FilePath?
    /// What was found.
    package internal(set) var findings: [Finding]
}

/// A pipeline's folders.
package struct ExaminedPipeline: Sendable {
    /// Its name.
    package let name: String
    /// Its folders, in the order in which a drop passes them.
    package internal(set) var places: [ExaminedPlace]
}
