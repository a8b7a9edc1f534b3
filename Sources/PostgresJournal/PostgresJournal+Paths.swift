import Files
package import Journal
import PipelineKit
import SystemPackage

/// Paths as every host knows them: a record has them by the pipeline's folders, and this host's are told by it.
extension PostgresJournal {
    /// What this node was told.
    struct Roots {
        var all: [String: PathRoots] = [:]
        /// Those that are not on record.
        var unwritten: Set<String> = []
    }

    package func know(_ roots: PathRoots, of pipeline: String) {
        told.withLock { told in
            guard told.all.updateValue(roots, forKey: pipeline) != roots else { return }
            told.unwritten.insert(pipeline)
        }
    }

    /// What puts roots on record. No job's paths come before them.
    func notes(of roots: Roots, by incarnation: Incarnation) -> [PostgresQuery] {
        roots.unwritten.sorted().compactMap { pipeline in
            roots.all[pipeline].map { roots in
                var json = JSONText()
                json.roots(roots)
                return PostgresQuery(
                    """
                    INSERT INTO roots (node, pipeline, host, value) VALUES ($1, $2, $3, $4) \
                    ON CONFLICT (node, pipeline) DO UPDATE \
                    SET host = excluded.host, at = clock_timestamp(), value = excluded.value
                    """, incarnation.node, pipeline, incarnation.host, json.string)
            }
        }
    }

    /// Those are on record.
    func hasWritten(_ roots: Roots) {
        told.withLock { told in
            told.unwritten = told.unwritten.filter { !roots.unwritten.contains($0) || told.all[$0] != roots.all[$0] }
        }
    }

    /// Where folders are: what this node was told; of other pipelines what a node of this host was, or the last one
    /// that was told.
    func roots(of pipelines: Set<String>? = nil) throws(JournalError) -> [String: PathRoots] {
        var roots = told.withLock(\.all)
        let unknown = pipelines?.subtracting(roots.keys)
        if unknown?.isEmpty ?? false { return roots }
        let rows = try read(
            PostgresQuery(
                """
                SELECT DISTINCT ON (pipeline) pipeline, value FROM roots \
                WHERE coalesce(pipeline = ANY ($1::text[]), true) ORDER BY pipeline, (host = $2) DESC, at DESC
                """, unknown.map { PostgresColumn($0.map { $0 }) }, host))
        for found in rows {
            var row = found
            let pipeline = try row.text()
            let value = try row.json(\.roots)
            if roots[pipeline] == nil { roots[pipeline] = value }
        }
        return roots
    }

    /// The records as they are on record.
    func relative(_ records: [JobRecord], by roots: [String: PathRoots]) -> [JobRecord] {
        if roots.isEmpty { return records }
        return records.map { record in roots[record.pipeline].map { record.mappingPaths($0.relative) } ?? record }
    }

    /// The records as they are on this host.
    func absolute(_ records: [JobRecord]) throws(JournalError) -> [JobRecord] {
        if records.isEmpty { return [] }
        let roots = try roots(of: Set(records.map(\.pipeline)))
        return records.map { record in roots[record.pipeline].map { record.mappingPaths($0.absolute) } ?? record }
    }
}
