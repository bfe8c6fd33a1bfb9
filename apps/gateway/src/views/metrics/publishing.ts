import type { PublicationBalance, PublicationTotals } from '../publishing-costs.ts'
import { byLabel, type Family } from './text.ts'

export function totalFamilies({ byState, feeLamports, rentLamports }: PublicationTotals): Family[] {
  return [
    {
      name: 'svc_publications',
      type: 'gauge',
      help: 'Transactions that publish statements, by state.',
      samples: byLabel('state', byState),
    },
    {
      name: 'svc_anchor_fee_lamports_total',
      type: 'counter',
      help: 'Fees paid for anchors.',
      samples: [{ value: feeLamports }],
    },
    {
      name: 'svc_anchor_rent_lamports',
      type: 'gauge',
      help: 'Rent locked in accounts of anchors.',
      samples: [{ value: rentLamports }],
    },
  ]
}

/** Empty if the gateway publishes nothing, and while no node answers. */
export function balanceFamilies(balance: PublicationBalance): Family[] {
  if (!('lamports' in balance)) return []
  return [
    {
      name: 'svc_publication_balance_lamports',
      type: 'gauge',
      help: 'Balance of the publication key.',
      samples: [{ value: Number(balance.lamports) }],
    },
    {
      name: 'svc_publication_low_balance',
      type: 'gauge',
      help: 'Whether the balance of the publication key is below low_balance of ANCHORS.',
      samples: [{ value: balance.state === 'low' ? 1 : 0 }],
    },
  ]
}
