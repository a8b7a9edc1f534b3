package import Files
package import SystemPackage

/// What the kinds of this package can say besides: a public protocol has no requirements that are not public.
package protocol OwnStage: Stage {
    /// The lists that it adds lines to wherever payloads are published (`Payload.lines`): nothing else gets their names
    /// there. None unless it says otherwise.
    var lists: [FileName] { get }

    /// What tells it from others of its kind, in a word or two: the program that it runs. Nil unless it says otherwise.
    var label: String? { get }

    /// What it cannot do anything without and was not given (`StageServices`); nil unless it says otherwise.
    var lack: Failure? { get }

    /// Tries what it needs besides the drop, for `doctor`: programs, services, files. Nothing unless it says otherwise.
    /// `bench`: an empty folder of our own on the work folder's file system, which goes afterwards; nil where there is
    /// none.
    func examine(in bench: FilePath?) -> [Finding]

    /// Whether small drops may pass it by their content alone, without `run`: it makes no files of its own then, runs
    /// nothing and sends nothing. No unless it says otherwise.
    var isQuick: Bool { get }

    /// Whether it may put files into a payload that is a folder: what was there before cannot be gone back to. No
    /// unless it says otherwise.
    var addsToFolders: Bool { get }

    /// How long content is to be known that came before; nil: as long as the journal knows jobs, or it does not ask.
    var memory: Duration? { get }

    /// What `run` would hand on for a drop that no stage has changed, with its content at hand; nil where `run` is to
    /// be asked: for whatever is out of the ordinary, and each failure.
    func pass(_ payload: Payload, of job: Job, holding content: SmallContent) -> Payload?
}

extension OwnStage {
    package var lists: [FileName] { [] }
    package var label: String? { nil }
    package var lack: Failure? { nil }
    package func examine(in bench: FilePath?) -> [Finding] { [] }
    package var isQuick: Bool { false }
    package var addsToFolders: Bool { false }
    package var memory: Duration? { nil }
    package func pass(_ payload: Payload, of job: Job, holding content: SmallContent) -> Payload? { nil }
}

/// The same of any stage.
extension Stage {
    private var own: (any OwnStage)? { self as? any OwnStage }
    package var lists: [FileName] { own?.lists ?? [] }
    package var label: String? { own?.label }
    package var lack: Failure? { own?.lack }
    package func examine(in bench: FilePath?) -> [Finding] { own?.examine(in: bench) ?? [] }
    package var isQuick: Bool { own?.isQuick ?? false }
    package var addsToFolders: Bool { own?.addsToFolders ?? false }
    package var memory: Duration? { own?.memory }
    package func pass(_ payload: Payload, of job: Job, holding content: SmallContent) -> Payload? {
        own?.pass(payload, of: job, holding: content)
    }
}
