// The statements of a locker, newest first, and following the newest one until it is final.

import { type Signal, signal } from '@preact/signals'
import type { Statements } from '@svc/api/evidence'
import type { LockerSession } from './session.ts'

export type Statement = Statements['statements'][number]

const PAGE = 50
/** A list that is longer than this is not read to its end at once. */
const MAX_PAGES = 20
const FIRST_PAUSE_MS = 2_000
const LONGEST_PAUSE_MS = 20_000
/** What is not final after so long needs no eye on it. */
const FOLLOWED_MS = 15 * 60_000

export interface StatementList {
  /** Null until they are read. */
  now: Signal<readonly Statement[] | null>
  /** Reads what is new. Public: nobody signs. */
  load(): Promise<void>
  loadEarlier(): Promise<void>
  /** Reads again, less and less often, until the newest is final; returns how to stop. */
  follow(): () => void
}

export function createStatements({ client, locker, facts }: LockerSession): StatementList {
  const { receipt_id } = locker
  const now = signal<readonly Statement[] | null>(null)

  async function read(from: number, limit = PAGE): Promise<Statements> {
    const { statements } = await import('@svc/api/evidence')
    return (await client.call(statements, { query: { receipt_id, from, limit } })).body
  }

  function merge(read: readonly Statement[]): void {
    const bySequence = new Map([...(now.value ?? []), ...read].map((statement) => [statement.sequence, statement]))
    now.value = [...bySequence.values()].sort((a, b) => b.sequence - a.sequence)
  }

  async function load(): Promise<void> {
    const newest = now.value?.[0]?.sequence
    let from: number | undefined = newest ?? Math.max(1, (facts.value.attestation?.evidence_seq ?? 1) - PAGE + 1)
    for (let pages = 0; from !== undefined && pages < MAX_PAGES; pages++) {
      const page: Statements = await read(from)
      merge(page.statements)
      from = page.next_sequence
    }
  }

  return {
    now,
    load,
    async loadEarlier() {
      const oldest = now.value?.at(-1)?.sequence ?? 1
      if (oldest > 1) merge((await read(Math.max(1, oldest - PAGE), Math.min(PAGE, oldest - 1))).statements)
    },
    follow() {
      const began = Date.now()
      let pause = FIRST_PAUSE_MS
      let timer: ReturnType<typeof setTimeout> | undefined
      const next = () => {
        if (!isUnderWay(now.value?.[0], began) || Date.now() - began > FOLLOWED_MS) return
        timer = setTimeout(async () => {
          // A failure is tried again after the next pause.
          if (!document.hidden) await load().catch(() => {})
          pause = Math.min(pause * 1.5, LONGEST_PAUSE_MS)
          if (timer !== undefined) next()
        }, pause)
      }
      next()
      return () => {
        clearTimeout(timer)
        timer = undefined
      }
    },
  }
}

/** Whether its anchor is on the way, or not final yet. */
function isUnderWay(statement: Statement | undefined, now: number): boolean {
  if (!statement) return false
  const { anchor, anchor_absence, issued_at } = statement
  if (anchor) return !anchor.finalized
  return !anchor_absence && now - Date.parse(issued_at) < FOLLOWED_MS
}
