// Solana Pay URLs, as wallets read them. An example is JSON: the contents of the quote.

import { ASSETS } from '@svc/api/assets'
import { PRIMARY } from '@svc/api/networks'
import { problemWith } from '@svc/devnet/properties/made-up-input'
import { json, must } from '@svc/devnet/properties/rules'
import { paymentReference } from '@svc/protocol/ids'
import { expect, it } from 'vitest'
import { transferRequest } from '../../src/selling/quote.ts'
import { PAY_REQ_ID, PAYER, TREASURY } from './wire.ts'

it('T-129 no made-up input breaks the rules of Solana Pay URLs', async () => {
  expect(
    await problemWith({
      examples: [
        JSON.stringify({ ticker: 'SOL', amount: '1500000', label: 'Storage & more', message: '1 GB / 30 days + é' }),
        JSON.stringify({ ticker: 'USDC', amount: '1', label: '', message: 'a=b&amount=9#x%20' }),
      ],
      words: [...'& = # ? % + &amount=0 \ud83d\ude00 \0 \n 18446744073709551615 SOL USDC'.split(' '), ' '],
      isJson: true,
      maxBytes: 4096,
      rule(input) {
        const { ticker, amount, label, message } = { ...(json(input) as Record<string, unknown> | null | undefined) }
        const of = ASSETS.find((asset) => asset.network === PRIMARY && asset.ticker === ticker)
        if (!of || typeof amount !== 'string' || !/^[1-9]\d{0,19}$/.test(amount)) return
        if (typeof label !== 'string' || typeof message !== 'string' || !(label + message).isWellFormed()) return
        const asset = ticker === 'SOL' ? PRIMARY.nativeAsset : PAYER
        const leg = { of, asset, payTo: TREASURY, wallet: TREASURY, amount: BigInt(amount), rate: null }
        const { url, reference } = transferRequest(leg, PAY_REQ_ID, { label, message })
        const { protocol, pathname, searchParams, hash } = new URL(url)
        must(protocol === 'solana:' && pathname === TREASURY && hash === '', 'a wallet reads another recipient')
        const [whole = '', fraction = ''] = (searchParams.get('amount') ?? '').split('.')
        must(BigInt(whole + fraction.padEnd(of.decimals, '0')) === BigInt(amount), 'a wallet reads another amount')
        must(searchParams.get('spl-token') === (ticker === 'SOL' ? null : asset), 'a wallet reads another token')
        must(
          searchParams.get('label') === label && searchParams.get('message') === message,
          'a wallet reads another text',
        )
        must(searchParams.get('memo') === paymentReference(PAY_REQ_ID), 'a wallet reads another memo')
        must(searchParams.getAll('reference').join() === reference, 'a wallet reads another reference')
      },
    }),
  ).toBeNull()
})
