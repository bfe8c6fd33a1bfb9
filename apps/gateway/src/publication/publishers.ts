import { ENTRIES } from './evm-registry/entries.ts'
import { LOG_ANCHORS } from './log-anchors/anchor-log.ts'
import type { Publisher } from './publisher.ts'
import { STATEMENTS } from './statements.ts'

/** All watched publishers. */
export const PUBLISHERS: readonly Publisher<unknown>[] = [STATEMENTS, LOG_ANCHORS, ENTRIES]
