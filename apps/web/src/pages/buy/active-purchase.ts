// A purchase that this tab works on while it holds the purchase's lock. The page may show another one meanwhile: what
// is
// done for a purchase is written into that purchase, and shown only as long as the work was not stopped.

import type { SignedReceipt } from '@svc/protocol/receipt'
import type { PaymentStep } from '../../paying/observed-wallet.ts'
import type { Problem } from '../../paying/problem.ts'
import { keep, readKept, type SavedPurchase } from './saved-purchases.ts'

/** What the page waits for. */
export type Doing = PaymentStep | 'quote' | 'checking' | 'other_tab'

export type Stage =
  | { at: 'choose'; problem: Problem | null }
  | { at: 'pay'; problem: Problem | null }
  | { at: 'working'; doing: Doing }
  /** A payment may have been made, or was made and not accepted. Nothing is paid before that is settled. */
  | { at: 'unsettled'; problem: Problem; isUnanswered: boolean }
  | { at: 'done'; receipt: SignedReceipt }
  | { at: 'gone' }

export interface ActivePurchase {
  readonly id: string
  readonly signal: AbortSignal
  /** As it is kept now. */
  read(): Promise<SavedPurchase>
  change(fields: Partial<Omit<SavedPurchase, 'id'>>): Promise<void>
  show(stage: Stage): void
  doing(what: Doing): void
  finish(receipt: SignedReceipt): Promise<void>
}

interface Page {
  onChange: (purchase: SavedPurchase) => void
  onStage: (stage: Stage) => void
}

export function holdPurchase(kept: SavedPurchase, signal: AbortSignal, { onChange, onStage }: Page): ActivePurchase {
  const { id } = kept
  let known = kept
  const read = async () => {
    known = (await readKept(id)) ?? known
    return known
  }
  const change: ActivePurchase['change'] = async (fields) => {
    known = { ...(await read()), ...fields }
    await keep(known)
    onChange(known)
  }
  const show = (stage: Stage) => {
    if (!signal.aborted) onStage(stage)
  }
  return {
    id,
    signal,
    read,
    change,
    show,
    doing: (what) => show({ at: 'working', doing: what }),
    async finish(receipt) {
      try {
        await change({ receipt })
      } catch {
        // A full storage must not hide what was paid for: it is shown, and can be downloaded.
        onChange({ ...known, receipt })
      }
      show({ at: 'done', receipt })
    },
  }
}
