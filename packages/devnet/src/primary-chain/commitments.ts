import type { Timeline } from './timeline.ts'

export const COMMITMENTS = ['processed', 'confirmed', 'finalized'] as const
export type Commitment = (typeof COMMITMENTS)[number]

/** The chain as a client of one commitment sees it: everything up to `cutoff`, nothing younger. */
export interface View {
  readonly commitment: Commitment
  readonly cutoff: number
  readonly slot: number
  readonly height: number
}

export interface Ageing {
  readonly confirmAfterMs: number
  readonly finalizeAfterMs: number
}

export function viewAt(timeline: Timeline, ageing: Ageing, commitment: Commitment): View {
  const age = { processed: 0, confirmed: ageing.confirmAfterMs, finalized: ageing.finalizeAfterMs }[commitment]
  const cutoff = timeline.time() - age
  return { commitment, cutoff, slot: timeline.slotAt(cutoff), height: timeline.heightAt(cutoff) }
}

export function commitmentOf(time: number, now: number, ageing: Ageing): Commitment {
  if (now - time >= ageing.finalizeAfterMs) return 'finalized'
  return now - time >= ageing.confirmAfterMs ? 'confirmed' : 'processed'
}
