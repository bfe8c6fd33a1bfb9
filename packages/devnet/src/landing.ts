/**
 * When a transaction lands on a local chain.
 *
 * `later`, as on a real chain: the node answers first, the transaction lands together with others in one of the next
 * slots or blocks, and becomes final after more of them. The chain moves with the clock, and by one slot or block between
 * any two requests, so that a client that keeps asking finds it there, however long that takes.
 *
 * `at once`: it has landed and is final before the node answers.
 */
export type Landing = 'later' | 'at once'
