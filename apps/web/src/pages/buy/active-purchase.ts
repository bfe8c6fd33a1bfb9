// A purchase that this tab works on while it holds the purchase's lock. The page may show another purchase in the
// meantime: results are saved in the purchase, and shown only if the work was not aborted.

import type { SignedReceipt } from '@svc/protocol/receipt'
import type { PaymentStep } from '../../paying/observed-wallet.ts'
import type { Problem } from '../../paying/problem.ts'
import { readSaved, type SavedPurchase, savePurchase } from './saved-purchases.ts'

/** The step that the page waits for. */
export type Doing = PaymentStep | 'quote' | 'checking' | 'other_tab'

export type Stage =
  | { at: 'choose'; problem: Problem | null }
  | { at: 'pay'; problem: Problem | null }
  | { at: 'working'; doing: Doing }
  /** A payment may have been made, or was not accepted. Nothing else is paid before it is settled. */
  | { at: 'unsettled'; problem: Problem; isUnanswered: boolean }
  | { at: 'done'; receipt: SignedReceipt }
  | { at: 'gone' }

export interface ActivePurchase {
  readonly id: string
  readonly signal: AbortSignal
  /** Reads the stored purchase. */
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

export function holdPurchase(saved: SavedPurchase, signal: AbortSignal, { onChange, onStage }: Page): ActivePurchase {
  const { id } = saved
  let known = saved
  const read = async () => {
    known = (await readSaved(id)) ?? known
    return known
  }
  const change: ActivePurchase['change'] = async (fields) => {
    known = { ...(await read()), ...fields }
    await savePurchase(known)
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
        // Show the receipt even if storage is full: it was paid for, and can be downloaded.
        onChange({ ...known, receipt })
      }
      show({ at: 'done', receipt })
    },
  }
}
