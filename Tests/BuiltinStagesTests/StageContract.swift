import BuiltinStages
import PipelineKit
import SystemPackage

/// A kind of which the contract suite must know more than its descriptor says, told in the kind's own test file.
protocol ContractSubject: Stage {
    static var contract: StageContract { get }
}

/// How to run a kind on any payload.
struct StageContract: Sendable {
    /// What a stage is run on.
    enum Input: CaseIterable, Sendable {
        case plainFile, archive, folder
    }

    /// A server that a kind asks.
    struct Server: Sendable {
        /// Whether it can be had here.
        var isPossible = true
        /// Starts one, which may be one that never answers; it lives as long as the object. The options that speak of
        /// it are added to the others.
        let start: @Sendable (StageFixture, _ isSilent: Bool) async throws -> (Options, AnyObject)
        /// Options that speak of one that is not there, and what follows.
        let absent: Options
        let failure: Failure.Class
    }

    /// The file by which one sees that a stage has begun that tells no progress until it is through.
    struct Sign: Sendable {
        let path: FilePath
        var isEmptyEnough = false
    }

    /// Options with which it works on any payload.
    var options: Options = [:]
    var server: Server?
    /// What it hands on without a look.
    var handsOn: Set<Input> = []
    /// What it is not through with at once; nil for a kind that touches no data.
    var work: Input? = .folder
    /// Options of a run that lasts, where these are others.
    var lasting: Options?
    /// Readies a payload for such a run.
    var prepare: @Sendable (StageFixture, Payload) throws -> Void = { _, _ in }
    var sign: Sign?
    /// The code of the failure of a name that is no UTF-8; nil where it takes any.
    var oddName: String?
    /// What a full disk means for it.
    var fullDisk = Failure.Class.environment

    /// The contract of a kind.
    static func of(_ kind: String) -> StageContract {
        let type = StageRegistry.builtin.type(of: kind) ?? StageRegistry([StampStage.self]).type(of: kind)
        return (type as? any ContractSubject.Type)?.contract ?? StageContract()
    }

    /// Its options, with the server that they speak of. `isLasting`: for a run that does not end by itself soon.
    func options(_ fixture: StageFixture, isLasting: Bool = false) async throws -> (
        options: Options, server: AnyObject?
    ) {
        let own = isLasting ? lasting ?? options : options
        guard let server else { return (own, nil) }
        let (more, object) = try await server.start(fixture, isLasting)
        return (own + more, object)
    }

    /// Its options where there is no server.
    var optionsAlone: Options { server.map { options + $0.absent } ?? options }
}

extension Options {
    /// Both of two maps.
    static func + (left: Options, right: Options) -> Options {
        guard case .map(let some) = left, case .map(let others) = right else { return right }
        return .map(some + others)
    }
}
