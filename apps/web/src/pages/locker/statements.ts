// The statements of a locker, newest first. Polls the newest one until it is final.

import { type Signal, signal } from '@preact/signals'
import type { Statements } from '@svc/api/evidence'
import type { LockerSession } from './session.ts'

export type Statement = Statements['statements'][number]

const PAGE = 50
/** Longer lists are not loaded completely. */
const MAX_PAGES = 20
const FIRST_PAUSE_MS = 2_000
const LONGEST_PAUSE_MS = 20_000
/** Polling stops after this time. */
const FOLLOWED_MS = 15 * 60_000

export interface StatementList {
  /** Null until they are loaded. */
  now: Signal<readonly Statement[] | null>
  /** Loads new statements. The list is public, so no signature is needed. */
  load(): Promise<void>
  loadEarlier(): Promise<void>
  /** Polls with growing pauses until the newest is final; returns a function that stops it. */
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
          // Retry after the next pause.
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

/** Whether the anchor is being published, or is not final yet. */
function isUnderWay(statement: Statement | undefined, now: number): boolean {
  if (!statement) return false
  const { anchor, anchor_absence, issued_at } = statement
  if (anchor) return !anchor.finalized
  return !anchor_absence && now - Date.parse(issued_at) < FOLLOWED_MS
}
