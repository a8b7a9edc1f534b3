import Files
import PipelineKit
import Testing

@testable import PipelineConfig

/// `fair`, `priority` and `aging`: who shares, and what comes first.
@Suite struct SharingKeyTests {
    private func load(_ keys: String) throws(ConfigProblems) -> Pipeline? {
        let text = "inbox: /x/in\nprocessed: /x/done\nfailed: /x/failed\nstages: [checksum]\n\(keys)\n"
        return try PipelineLoader(registry: FakeStages.registry, environment: [:])
            .load([PipelineDescription(name: "p", base: "/x", text: text)]).first
    }

    @Test func areRead() throws {
        #expect(try load("")?.fair == nil && load("")?.priority == nil)
        let fair = try #require(
            try load("match: { depth: 2 }\nfair: { by: folder, weight: { acme: 2, .: 3 }, active: 8 }")?.fair)
        #expect(fair.by == .folder && fair.weights == ["acme": 2, ".": 3] && fair.active == 8)
        #expect(try load("fair: { by: owner, weight: { root: 5 } }")?.fair?.weights == ["root": 5])
        let star = try load("fair: { by: '*_invoice.pdf' }")?.fair
        #expect(star?.by == .pattern(before: [], after: Array("_invoice.pdf".utf8)))
        let priority = try #require(
            try load("priority: [ { match: 'urgent-*', level: 10 }, { path: 'bulk/**', level: -5 } ]")?.priority)
        #expect(priority.entries.map(\.level) == [10, -5] && priority.entries.map(\.isOfPath) == [false, true])
        #expect(priority.aging == .seconds(3600))
        #expect(try load("priority: [ { match: a, level: 1 } ]\naging: 5m")?.priority?.aging == .seconds(300))
        #expect(try load("priority: []")?.priority == nil)
    }

    @Test func limitsAndHoursAreRead() throws {
        let limit = try #require(try load("limit: { jobs: 100/min, bytes: 50MiB/s }")?.limit)
        #expect(limit.jobs == .init(100, per: .seconds(60), text: "100/min"))
        #expect(limit.bytes == .init(50 << 20, per: .seconds(1), text: "50MiB/s"))
        let keys = "hours: ['Mon-Fri 20:00-06:00', 'Sat,Sun']\nzone: UTC\noutside: drain"
        let rule = try #require(try load(keys)?.hours)
        #expect(rule.outside == .drain && rule.hours.texts.count == 2)
        #expect(try load("hours: Sun")?.hours?.outside == .pause)
        #expect(try load("weight: 7")?.weight == 7 && load("")?.weight == 1)
    }

    @Test(arguments: [
        (
            "limit: { jobs: 0/min }",
            "5:16: error: 'limit.jobs': nothing would ever be claimed; write more, or pause the pipeline"
        ),
        (
            "limit: { bytes: 5MiB }",
            "5:17: error: 'limit.bytes': '5MiB' is not a rate; write how much within a time, such as 50MiB/s; times "
                + "are s, min, h, d"
        ),
        (
            "limit: {}",
            "5:8: error: 'limit' says no rate; write 'jobs: 100/min' or 'bytes: 50MiB/s' into it, or leave it out"
        ),
        (
            "limit: { jobs: -1/s }",
            "5:16: error: 'limit.jobs': nothing would ever be claimed; write more, or pause the pipeline"
        ),
        (
            "match: { include: ['a', 'x['] }",
            "5:25: error: 'match.include': 'x[' has a '[' without ']', which stands for itself; close it, or write "
                + "'[[]'"
        ),
        ("limit: { jobs: x/s }", "5:16: error: 'limit.jobs': expected a whole number, found 'x'"),
        ("zone: UTC", "5:1: error: 'zone' needs 'hours', which it is about"),
        ("outside: drain", "5:1: error: 'outside' needs 'hours', which it is about"),
        ("weight: 0", "5:9: error: 'weight': expected at least 1, found 0"),
    ])
    func wrongLimitsAreRefused(keys: String, message: String) {
        let problems = #expect(throws: ConfigProblems.self) { try load(keys) }
        #expect(problems?.all.map(\.description) == ["/x/p.yaml:\(message)"])
    }

    /// What is wrong with hours is said at the entry.
    @Test(arguments: [
        ("hours: ['Mon-Fri 08:00-09:00', 'Mon-Fry 9-5']", "5:32"), ("hours: '25:00-26:00'", "5:8"),
        ("hours: ['Mon 09:00-09:00']", "5:9"), ("hours: []", "5:8"), ("hours: Mon\nzone: Europe/Berlim", "6:7"),
    ])
    func wrongHoursAreRefused(keys: String, place: String) {
        let problems = #expect(throws: ConfigProblems.self) { try load(keys) }
        let messages = problems?.all.map(\.description) ?? []
        #expect(messages.count == 1 && messages.allSatisfy { $0.hasPrefix("/x/p.yaml:\(place): error: ") })
    }

    @Test func aReloadSeesThem() throws {
        let (fair, plain) = (try #require(try load("fair: { by: owner }")), try #require(try load("")))
        #expect(fair.differences(from: plain) == ["fair"] && fair.definition == plain.definition)
    }

    @Test(arguments: [
        ("fair: folder", "5:7: error: 'fair' must be a map of by, weight, active; found 'folder'"),
        (
            "fair: { active: 2 }",
            "5:1: error: 'fair' needs 'by': folder, owner, or a pattern with one '*' such as '*_invoice.pdf'"
        ),
        (
            "fair: { by: user }",
            "5:13: error: 'fair.by': expected 'folder', 'owner' or a pattern with one '*', found 'user'"
        ),
        (
            "fair: { by: '*-*.pdf' }",
            "5:13: error: 'fair.by': the pattern has 2 '*'; what stands for the one '*' is the producer, so leave one"
        ),
        (
            "fair: { by: 'a/*' }",
            "5:13: error: 'fair.by': the pattern is compared with the name alone; leave out '/', or write 'folder'"
        ),
        (
            "fair: { by: folder }",
            "5:13: error: only the inbox is searched, so all drops have one producer; add 'match: { depth: 2 }'"
        ),
        (
            "ready: { unit: folder }\nfair: { by: folder }",
            "6:13: error: with 'ready.unit: folder' every drop lies in the inbox itself; write 'by: owner'"
        ),
        (
            "fair: { by: owner, weight: { no-such-user: 2 } }",
            "5:30: error: 'fair.weight': there is no user 'no-such-user'; correct the name, or leave it out"
        ),
        (
            "match: { depth: 2 }\nfair: { by: folder, weight: { a/b: 2 } }",
            "6:31: error: 'fair.weight': 'a/b' is not the name of a folder in the inbox; write its name alone"
        ),
        (
            "fair: { by: owner, weight: { root: 0 } }",
            "5:36: error: 'fair.weight': expected at least 1, found 0"
        ),
        (
            "active: { jobs: 5 }\nfair: { by: owner, active: 6 }",
            "6:28: error: 'fair.active': more than all producers together may have (active.jobs: 5); write a "
                + "smaller number"
        ),
        (
            "priority: a",
            "5:11: error: 'priority' must be a map of match, path, level; found 'a'"
        ),
        (
            "priority: [ { match: 'a/*', level: 1 } ]",
            "5:22: error: 'priority.match': it is compared with the name alone; leave out '/', or write 'path'"
        ),
        (
            "priority: [ { level: 1 } ]",
            "5:13: error: an entry of 'priority' needs 'match' (a pattern of names) or 'path', and not both"
        ),
        (
            "priority: [ { match: a } ]",
            "5:13: error: an entry of 'priority' needs 'level', a number; other drops have 0"
        ),
        (
            "priority: [ { match: a, level: 101 } ]",
            "5:32: error: 'priority.level': expected at most 100, found 101"
        ),
        ("aging: 1h", "5:1: error: 'aging' needs 'priority', which says what comes first"),
        (
            "priority: [ { match: a, level: 1 } ]\naging: 0s",
            "6:8: error: 'aging': nothing would come before anything else; write a longer time"
        ),
    ])
    func areRefused(keys: String, message: String) {
        let problems = #expect(throws: ConfigProblems.self) { try load(keys) }
        #expect(problems?.all.map(\.description) == ["/x/p.yaml:\(message)"])
    }
}
