import type { Anchor } from '@svc/api/attestations'
import type { Terms } from '@svc/api/purchases'
import type { SignedReceipt } from '@svc/protocol/receipt'
import { explorerUrl } from '@svc/sdk/explorer'
import { networkText } from './networks.ts'
import { bytesText, counted } from './quantities.ts'
import { shown } from './shown.ts'

type Pair = [name: string, value: string]

interface PaidService {
  /** The address of the paid service. */
  service: string
  /** Whether it runs on local chains. */
  isLocal: boolean
}

/** The payment and its receipt. */
export function paidPairs(receipt: SignedReceipt, { service, isLocal }: PaidService): Pair[] {
  const { paid_amount, pay_asset, network, tx_hash, receipt_id } = receipt
  return [
    ['paid', shown(`${paid_amount} ${pay_asset} on ${networkText(network, { isLocal })}`)],
    ['payment', tx_hash],
    ...explorerPairs(network, tx_hash, service),
    ['receipt', receipt_id],
  ]
}

/** When and where a statement was published. `service` is the address of the gateway. */
export function anchorPairs(anchor: Anchor | null, service: string): Pair[] {
  if (anchor === null) return [['published', 'not published']]
  return [['published', anchorText(anchor)], ...explorerPairs(anchor.chain, anchor.tx, service)]
}

/** `2Ana… in slot 123, final` */
function anchorText({ tx, slot, finalized = false }: Anchor): string {
  return shown(`${tx}${slot === null ? '' : ` in slot ${slot}`}, ${finalized ? 'final' : 'confirmed'}`)
}

/** Empty for a local chain. */
export function explorerPairs(network: string, tx: string, service: string): Pair[] {
  const url = explorerUrl({ network, tx, service })
  return url === null ? [] : [['see', url]]
}

/** `1.00 GiB, 1,000 files, 365 days` */
export function termsText({ storage_limit_bytes, file_limit, ttl_days }: Terms): string {
  return [bytesText(storage_limit_bytes), counted(file_limit, 'file'), counted(ttl_days, 'day')].join(', ')
}
