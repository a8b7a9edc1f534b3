/// Where nothing came before.
package struct NothingSeen: SeenContent {
    package init() {}

    package func first(_ content: SeenQuery) throws(Failure) -> SeenJob? { nil }
}
