import Files

/// Goes through a job's history once, and keeps what each part of it adds.
struct TimeLineBuilder {
    typealias Span = TimeLine.Span
    typealias Place = TimeLine.Place

    private let record: JobRecord
    private let stages: [String]
    private(set) var firstSeen: Timestamp?
    private(set) var held: [TimeLine.Hold] = []
    private var spans: [Place: [Span]] = [:]
    /// What is not a stage of the pipeline, in the order in which it came.
    private var others: [Place] = []
    private var skipped: Set<Int> = []
    /// Up to when all is told.
    private var told: Timestamp
    /// How far later times are moved, since the clock was set back.
    private var shift: Int64 = 0
    /// The next stage.
    private var next = 0
    /// What the job does from `told` on, unless something says that it ran.
    private var wait: (kind: Span.Kind, place: Place?, text: String?) = (.queued, nil, nil)
    /// A run that has begun.
    private var run: (place: Place, from: Timestamp)?

    init(of record: JobRecord, stages: [String]) {
        self.record = record
        self.stages = stages
        told = record.claimedAt
    }

    var rows: [TimeLine.Row] {
        let all = [.inbox] + stages.indices.map { Place.stage($0) } + others + [.settling]
        return all.map { place in
            var row = TimeLine.Row(place: place, kind: kind(of: place), spans: spans[place] ?? [])
            if case .stage(let stage) = place { row.isSkipped = skipped.contains(stage) && row.spans.isEmpty }
            return row
        }
    }

    private func kind(of place: Place) -> String {
        switch place {
        case .inbox: "inbox"
        case .stage(let stage): stages.indices.contains(stage) ? stages[stage] : ""
        case .former(let kind), .onFailure(let kind): kind
        case .settling: "settling"
        }
    }

    // MARK: Before the claim

    /// From when it was seen to when it was the job's: until then it may have been copied, or had writers yet.
    mutating func claim() {
        let claim = record.history.first { ["claimed", "recovered"].contains($0.event) }
        firstSeen = claim.flatMap { $0.event == "claimed" ? $0.duration : nil }.map { record.claimedAt.earlier($0) }
        held = record.history.lazy.filter { $0.event == Transition.held }.map { hold in
            TimeLine.Hold(
                code: hold.code ?? "", text: hold.note ?? "", from: hold.at, time: max(.zero, hold.duration ?? .zero))
        }
        let isFirst = claim == record.history.first { $0.event != Transition.held }
        let end = isFirst ? max(record.claimedAt, claim?.at ?? record.claimedAt) : record.claimedAt
        told = min(firstSeen ?? record.drop.droppedAt, end)
        for hold in held.sorted(by: { $0.from < $1.from }) {
            let from = min(max(told, hold.from), end)
            add(.inbox, .inbox, to: from)
            add(.inbox, .inbox, to: min(max(from, hold.from.later(hold.time)), end), text: hold.text)
        }
        add(.inbox, .inbox, to: end)
        told = end
    }

    // MARK: After it

    mutating func add(_ transition: Transition) {
        switch (transition.event, transition.stage) {
        case ("done", let kind?): ended(kind, transition, .done)
        case ("failed", let kind?): ended(kind, transition, .again)
        case (Transition.brokenOff, let kind?): ended(kind, transition, .again)
        case ("skipped", let kind?):
            if case .stage(let stage) = place(of: kind) {
                skipped.insert(stage)
                next = stage + 1
            }
        case (Transition.begun, let kind?):
            let place = place(of: kind)
            let (from, _) = times(transition)
            wait(until: from, for: place)
            run = (place, from)
        case ("deferred", _):
            // Its own time is that of its failure.
            wait = (.deferred, wait.place, transition.note)
        case ("queued", let kind?):
            let place = place(of: kind)
            wait(until: times(transition).to, for: place)
            wait = (.queued, place, nil)
        case ("notified", let kind?): ran(other(.onFailure(kind)), transition, .done)
        case ("could not notify", let kind?): ran(other(.onFailure(kind)), transition, .failed)
        case ("settling", _):
            wait(until: times(transition).to, for: .settling)
            wait = (.settling, .settling, nil)
        case ("recovered", _): breakOff(at: times(transition).to)
        case ("begun again", _), ("unsynced", _):
            next = 0
            wait = (.queued, nil, nil)
        case (record.state.rawValue, nil) where record.state.isFinal, ("lost", nil): over(at: transition.at)
        default: break
        }
    }

    /// It is over, or what it does goes on.
    mutating func end() {
        let hasFailed = record.state == .failed || record.state == .settling && record.failure != nil
        if hasFailed, let kind = record.failedStage, let place = lastPlace(of: kind) { fail(place) }
        guard !record.state.isFinal else { return }
        let stage = stages.indices.contains(record.stage) ? Place.stage(record.stage) : wait.place ?? .settling
        switch record.state {
        case .running: open(.run, run?.place ?? stage, from: run?.from)
        case .deferred: open(.deferred, wait.place ?? stage, text: wait.text)
        case .settling: open(.settling, .settling)
        default: open(.queued, stage)
        }
    }

    private mutating func over(at time: Timestamp) {
        let end = max(told, time.later(.nanoseconds(shift)))
        breakOff(at: end)
        let isSettled = wait.kind == .settling
        wait(until: end, for: stages.indices.contains(next) ? .stage(next) : .settling)
        if isSettled, let last = spans[.settling]?.indices.last {
            spans[.settling]?[last].outcome = record.state == .processed ? .done : .failed
        }
        wait = (.queued, nil, nil)
    }

    /// A run of a stage is over.
    private mutating func ended(_ kind: String, _ transition: Transition, _ outcome: Span.Outcome) {
        let place = place(of: kind)
        ran(place, transition, outcome)
        wait = (.queued, place, nil)
        guard outcome == .again else {
            if case .stage(let stage) = place { next = stage + 1 }
            wait.place = nil
            return
        }
        // Trouble of its surroundings may last for weeks: one entry for all runs that ended so.
        guard transition.times > 1, let last = transition.lastAt else { return }
        add(
            .queued, place, to: max(told, last.later(.nanoseconds(shift))),
            text: "run \(transition.times - 1) more times, with the same end")
    }

    private mutating func ran(_ place: Place, _ transition: Transition, _ outcome: Span.Outcome) {
        run = nil
        let (from, to) = times(transition)
        wait(until: from, for: place)
        add(.run, place, to: to, outcome: outcome, text: transition.note)
    }

    /// The daemon ended while a stage ran.
    private mutating func breakOff(at time: Timestamp) {
        guard let run else { return }
        self.run = nil
        add(.run, run.place, to: max(told, time), outcome: .again, text: "broken off")
    }

    /// What there was to wait for came to an end. `place`: what comes now, and for which it was queued, if it was.
    private mutating func wait(until time: Timestamp, for place: Place) {
        breakOff(at: time)
        add(wait.kind, wait.kind == .queued ? place : wait.place ?? place, to: time, text: wait.text)
        wait = (.queued, nil, nil)
    }

    private mutating func add(
        _ kind: Span.Kind, _ place: Place, to: Timestamp, outcome: Span.Outcome? = nil, text: String? = nil
    ) {
        guard to > told || kind == .run else { return }
        let to = max(told, to)
        spans[place, default: []].append(
            Span(kind: kind, from: told, to: to, attempt: attempt(kind, place), outcome: outcome, text: text))
        told = to
    }

    private mutating func open(_ kind: Span.Kind, _ place: Place, from: Timestamp? = nil, text: String? = nil) {
        spans[place, default: []].append(
            Span(kind: kind, from: from ?? told, to: nil, attempt: attempt(kind, place), text: text))
    }

    private func attempt(_ kind: Span.Kind, _ place: Place) -> Int? {
        kind == .run ? 1 + (spans[place]?.count { $0.kind == .run } ?? 0) : nil
    }

    /// When it began and ended, never before what is told.
    private mutating func times(_ transition: Transition) -> (from: Timestamp, to: Timestamp) {
        let took = max(.zero, transition.duration ?? .zero)
        var to = transition.at.later(.nanoseconds(shift))
        let from = to.earlier(took)
        guard from < told else { return (from, to) }
        shift = shift.addingSaturated(told.nanoseconds.subtractingSaturated(from.nanoseconds))
        to = told.later(took)
        return (told, to)
    }

    // MARK: Stages by their kinds

    private mutating func place(of kind: String) -> Place {
        let stage = stages[min(next, stages.count)...].firstIndex(of: kind) ?? stages.firstIndex(of: kind)
        guard let stage else { return other(.former(kind)) }
        next = stage
        return .stage(stage)
    }

    private mutating func other(_ place: Place) -> Place {
        if !others.contains(place) { others.append(place) }
        return place
    }

    private func lastPlace(of kind: String) -> Place? {
        let places = stages.indices.filter { stages[$0] == kind }.map { Place.stage($0) } + [.former(kind)]
        return places.filter { spans[$0] != nil }.max { last($0) < last($1) }
    }

    private func last(_ place: Place) -> Timestamp { spans[place]?.last?.from ?? Timestamp(nanoseconds: .min) }

    /// Its last run is why the job failed, unless it succeeded.
    private mutating func fail(_ place: Place) {
        guard let run = spans[place]?.lastIndex(where: { $0.kind == .run }), spans[place]?[run].outcome == .again else {
            return
        }
        spans[place]?[run].outcome = .failed
    }
}

extension Timestamp {
    /// So much later, or the last time that there is.
    fileprivate func later(_ time: Duration) -> Timestamp {
        Timestamp(nanoseconds: nanoseconds.addingSaturated(time.nanoseconds))
    }

    /// So much earlier, or the first time that there is.
    fileprivate func earlier(_ time: Duration) -> Timestamp {
        Timestamp(nanoseconds: nanoseconds.subtractingSaturated(time.nanoseconds))
    }
}
