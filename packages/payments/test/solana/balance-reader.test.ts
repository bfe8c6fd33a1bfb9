import { address, generateKeyPairSigner } from '@solana/kit'
import { PRIMARY } from '@svc/api/networks'
import { startFaultyNode, withResult } from '@svc/devnet/faulty-node'
import { forAllTests } from '@svc/devnet/for-tests'
import { describe, expect, it } from 'vitest'
import { createSolanaBalanceReader } from '../../src/solana/balance-reader.ts'
import { associatedAccount, paySol, payUsdc, SOL, startPayments, TO_TREASURY, USDC } from './payments.ts'

const CLOSED = 'http://127.0.0.1:1'

const payments = forAllTests(() => startPayments())

describe('balances of the primary chain', () => {
  const read = (...rpcUrls: string[]) =>
    createSolanaBalanceReader(PRIMARY, rpcUrls).read([TO_TREASURY, payments.toTreasuryUsdc])

  it('INT-04 grow by payments in coins and tokens, and keep the requested order', async () => {
    const { payer } = payments.people
    const [coins, tokens] = await read(payments.url)
    await payments.send(payer, paySol(payer, SOL), await payUsdc(payer, 5n, payments.treasuryUsdc))
    expect(await read(payments.url)).toEqual([coins! + SOL, tokens! + 5n])
  })

  it('INT-04 are zero for an account that does not exist, even when coins were sent to its address', async () => {
    const { payer } = payments.people
    const { address: owner } = await generateKeyPairSigner()
    const payTo = await associatedAccount(owner, USDC)
    const destinations = [
      { asset: PRIMARY.nativeAsset, payTo: owner },
      { asset: USDC, payTo },
    ]
    const reader = createSolanaBalanceReader(PRIMARY, [payments.url])
    expect(await reader.read(destinations)).toEqual([0n, 0n])
    await payments.send(payer, paySol(payer, SOL, address(payTo)))
    expect(await reader.read(destinations)).toEqual([0n, 0n])
  })

  it('INT-05 are unknown when no node answers, and known when one does', async () => {
    expect(await read(CLOSED)).toEqual([null, null])
    expect(await read()).toEqual([null, null])
    expect(await read(CLOSED, payments.url)).toEqual(await read(payments.url))
  })

  it('PAY-46 are not read from a node of another chain', async () => {
    const other = await startFaultyNode(
      payments.url,
      withResult('getGenesisHash', () => '4uhcVJyU9pJkvQyS88uRDiswHXSCkY3zQawwpjk2NsNY'),
    )
    expect(await read(other.url)).toEqual([null, null])
    await other.stop()
  })

  it('T-129 are reported as unknown when the node omits the amount', async () => {
    const other = await startFaultyNode(
      payments.url,
      withResult('getMultipleAccounts', (result: { value: object[] }) => ({
        ...result,
        value: result.value.map((account) => ({ ...account, lamports: 'many' })),
      })),
    )
    expect(await read(other.url)).toEqual([null, null])
    await other.stop()
  })
})
