package import PipelineKit

/// What nodes that share a journal need of it besides: who is alive, and whose the jobs are of one that is not.
package protocol SharedJournal: EngineJournal, SlotJournal {
    /// The word that this process is known by, and that its folders are named after.
    var incarnationID: String { get }

    /// What people call this node.
    var node: String { get }

    /// Whether this process was marked dead: its jobs are others' from now on, and it never comes back.
    var isLost: Bool { get }

    /// For how much longer this node's lease holds at least, by a clock of its own; nothing where it is over, or was
    /// ended. Until it is over nobody takes its jobs.
    var rest: Duration { get }

    /// Renews the lease, even one that has expired. Returns false if another node has marked this process dead.
    func renew() throws(JournalError) -> Bool

    /// Says where a pipeline's folders are on this host. From now on paths in them are on record by these names, and
    /// every host reads them as its own.
    func know(_ roots: PathRoots, of pipeline: String)

    /// Which random word marks the folders that the nodes with this pipeline share: the one on record, as long as
    /// another node that asked is not marked dead; else this one. Who does not find it there soon has other folders.
    func share(of pipeline: String, proposing token: String) throws(JournalError) -> String

    /// How the pipelines of each node stand, by the nodes' names.
    func standings() throws(JournalError) -> [String: [PipelineRecord]]

    /// How far this host's clock is ahead of the database's.
    func clockOffset() throws(JournalError) -> Duration

    /// How many jobs other nodes have that are not over, by pipeline and state.
    func countsElsewhere() throws(JournalError) -> [JobCount]

    /// All nodes that are known, the newest first.
    func nodes() throws(JournalError) -> [NodeRecord]

    /// Marks those dead whose lease is over, and returns all dead ones that have jobs or were marked by this. Waits for
    /// no commit: who commits is marked the next time.
    func markDead() throws(JournalError) -> [NodeRecord]

    /// Gives jobs of a dead node to this one, at most so many, unless another node takes them just now: those of these
    /// pipelines, and only with these definitions, or with whichever they have.
    func takeOver(
        from dead: String, of pipelines: [String], with definitions: [Definition]?, limit: Int
    ) throws(JournalError) -> [TakenJob]

    /// What is on record of these folders of jobs: those that bear the id of a job count as used.
    func records(of folders: [JobID]) throws(JournalError) -> FolderRecords

    /// Gives jobs of this node up, of which it knows nothing: others may take them over.
    func release(_ jobs: [JobID]) throws(JournalError)

    /// Who has the slots that nodes have together, and who waits for one.
    func slotsInUse() throws(JournalError) -> [SlotUse]

    /// Takes the lead in listing a pipeline's inbox, or keeps it. Returns whether this node has it for some seconds.
    /// `isWanted`: where it is false this node has the lead only as long as no other wants it, so that somebody lists.
    func takeLead(of pipeline: String, isWanted: Bool) throws(JournalError) -> Bool

    /// Ends this incarnation: whoever comes may take over what it has left. `endRun` does that, too.
    func leave() throws(JournalError)

    /// Calls this, too, when another node tells that there is something to see; it must not block. Nodes may tell
    /// nothing, and anybody something that is not so.
    func hear(_ heard: @escaping @Sendable (NodeHint) -> Void)

    // MARK: Requests

    /// Asks something of the nodes with these incarnations, each line of one of them. Returns the numbers of the
    /// requests in that order; nil for a node that is dead.
    func ask(
        _ lines: [(incarnation: String, line: String)], by name: String, user: UInt32
    ) throws(JournalError) -> [Int64?]

    /// Takes what is asked of this node and that is new: each request comes once.
    func takeRequests() throws(JournalError) -> [NodeRequest]

    /// Answers one that was taken.
    func answer(_ request: Int64, with line: String) throws(JournalError)

    /// How far requests are; one that is not among them went with its node.
    func standings(of requests: [Int64]) throws(JournalError) -> [Int64: NodeRequest.Standing]

    /// Removes requests, and returns how far each had come. Those that were not taken will not be.
    func withdraw(_ requests: [Int64]) throws(JournalError) -> [Int64: NodeRequest.Standing]

    /// The incarnations that have these jobs, as far as they are not over.
    func holders(of jobs: [JobID]) throws(JournalError) -> [JobID: String]
}

extension SharedJournal {
    /// The names of nodes that are known, whether they are alive or not.
    package func names() throws(JournalError) -> Set<String> {
        // What nodes gave up is that of one which never was on any host.
        Set(try nodes().filter { !$0.host.isEmpty }.map(\.name)).union(try standings().keys)
    }
}
