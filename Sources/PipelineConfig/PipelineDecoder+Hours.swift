import Files
import PipelineKit

extension PipelineDecoder {
    /// `hours`, `zone` and `outside`: when a pipeline works.
    mutating func hours(_ map: OptionMap) -> HoursRule? {
        let zone = map.read("zone", problems: &problems) { node throws(OptionProblem) in
            let name = try node.string()
            do throws(TimeZoneProblem) {
                return try TimeZoneRules.named(name)
            } catch {
                throw node.problem(error.message)
            }
        }
        let outside = map.read("outside", problems: &problems) { node throws(OptionProblem) in
            try node.choice(of: HoursRule.Outside.self)
        }
        guard map.given("hours") != nil else {
            for key in ["zone", "outside"] where !map.isMisspelt("hours") {
                guard let entry = map.given(key) else { continue }
                problems.append(OptionProblem("'\(key)' needs 'hours', which it is about", at: entry.position))
            }
            return nil
        }
        let rules = zone ?? TimeZoneRules.ofHost(variable: environment["TZ"])
        let hours = map.read("hours", problems: &problems) { node throws(OptionProblem) in
            let members = node.members
            var texts: [String] = []
            for member in members { texts.append(try member.string()) }
            do throws(HoursProblem) {
                return try Hours(texts, zone: rules)
            } catch {
                throw (error.entry.map { members[$0] } ?? node).problem(error.message)
            }
        }
        return hours.map { HoursRule($0, outside: outside ?? .pause) }
    }
}
