import {
  type Address,
  getCompiledTransactionMessageDecoder,
  getCompiledTransactionMessageEncoder,
  getTransactionDecoder,
  getTransactionEncoder,
  type SignatureBytes,
} from '@solana/kit'
import type { PaymentLeg } from '@svc/api/quote'
import { DEV_PAYERS } from '@svc/devnet/evm-chain/dev-accounts'
import { connectAs } from '@svc/devnet/evm-chain/dev-client'
import { startFaultyProxy } from '@svc/devnet/faulty-proxy'
import { DEMO_PAYERS } from '@svc/devnet/primary-chain/dev-accounts'
import { ed25519Signer } from '@svc/protocol/keys'
import fc from 'fast-check'
import { encodeAbiParameters, formatUnits, parseTransaction } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { describe, expect, it } from 'vitest'
import { memoryJournal } from '../../src/journal.ts'
import { isPrivateHost } from '../../src/local-services.ts'
import { amountText } from '../../src/money.ts'
import { evmTransfer, evmWallet } from '../../src/wallets/evm-wallet.ts'
import { type SignTransactionFeature, solanaWallet, solanaWalletFromStandard } from '../../src/wallets/solana-wallet.ts'
import { useMarket } from '../market.ts'

const market = useMarket()

describe('a browser wallet of the primary chain', () => {
  const account = { address: DEMO_PAYERS[0]!.address as string }
  const key = ed25519Signer(DEMO_PAYERS[0]!.privateKeyBytes)

  /** A wallet that changes a transaction's message and signs the result. */
  function walletThat(change: (message: Uint8Array) => Uint8Array): SignTransactionFeature<{ address: string }> {
    return {
      signTransaction: async (...requests) =>
        requests.map(({ transaction }) => {
          const decoded = getTransactionDecoder().decode(transaction)
          const messageBytes = change(new Uint8Array(decoded.messageBytes)) as unknown as typeof decoded.messageBytes
          const signature = key.sign(new Uint8Array(messageBytes)) as SignatureBytes
          const signatures = { [account.address as Address]: signature }
          return { signedTransaction: new Uint8Array(getTransactionEncoder().encode({ messageBytes, signatures })) }
        }),
    }
  }

  it('signs a payment without sending it', async () => {
    const wallet = solanaWalletFromStandard(
      market.chains.primary.url,
      account,
      walletThat((message) => message),
    )
    const { signer } = market.solana()
    const client = market.client({ signer, journal: memoryJournal(), pinnedKeys: [market.key] })
    const { receipt } = await client.buy({ intent: 'browser', units: 1, wallet })
    expect(receipt.payer_pubkey).toBe(account.address)
  })

  it.each<[string, SignTransactionFeature<{ address: string }>]>([
    ['changes the blockhash of a transaction', walletThat(withOtherBlockhash)],
    ['signs nothing', { signTransaction: async () => [] }],
  ])('pays nothing if it %s', async (_, feature) => {
    const wallet = solanaWalletFromStandard(market.chains.primary.url, account, feature)
    const before = await market.treasury('SOL')
    const quote = await market.client().quote({ units: 1 })
    await expect(market.client().pay(quote, wallet)).rejects.toMatchObject({ money: 'not_moved', tx: null })
    expect(await market.treasury('SOL')).toBe(before)
  })
})

it.each([
  ['primary', () => solanaWallet({ rpcUrl: 'http://127.0.0.1:9/secret', signer: market.solana().signer })],
  ['EVM', () => evmWallet({ rpcUrl: 'http://127.0.0.1:9/secret', account: DEV_PAYERS[3]!.privateKey })],
])('the error for a node of the %s chain that does not answer names only its host', async (_, wallet) => {
  const [leg] = (await market.client().quote({ units: 1 })).accepts
  const error = await wallet()
    .objection(leg!)
    .catch((thrown: Error) => thrown)
  expect(error).toMatchObject({
    money: 'not_moved',
    message: expect.stringMatching(/at 127\.0\.0\.1:9 does not answer$/),
  })
})

describe('a payment on the EVM chain', () => {
  it('can be signed by a viem account', async () => {
    const { privateKey } = DEV_PAYERS[3]!
    const wallet = evmWallet({ rpcUrl: market.chains.evm.url, account: privateKeyToAccount(privateKey) })
    const { signer } = market.evm(3)
    const client = market.client({ signer, journal: memoryJournal(), pinnedKeys: [market.key] })
    expect((await client.buy({ intent: 'account', units: 1, wallet })).receipt.pay_asset).toBe('MON')
  })

  it.each(['MON', 'USDC'])('can be sent in %s by a wallet that does not sign without sending', async (pay_asset) => {
    const client = market.client({ pinnedKeys: [market.key] })
    const { accepts } = await client.quote({ units: 1, pay_network: 'evm-mainnet', pay_asset })
    const leg = accepts[0]!
    const tx = await connectAs(DEV_PAYERS[4]!, market.chains.evm.url).sendTransaction(evmTransfer(leg))
    const { payer_pubkey } = await client.confirm({ leg, tx })
    expect(payer_pubkey).toBe(DEV_PAYERS[4]!.address.toLowerCase())
  })
})

describe('an EVM wallet that compares a leg with its token contract', () => {
  async function evmLeg(pay_asset: string): Promise<PaymentLeg> {
    const { accepts } = await market.client().quote({ units: 1, pay_network: 'evm-mainnet', pay_asset })
    return accepts[0]!
  }
  const as = (leg: PaymentLeg, extra: Partial<PaymentLeg['extra']>) => ({ ...leg, extra: { ...leg.extra, ...extra } })

  it('PAY-25 objects to another ticker, other decimals, another name of the coin, and an address without a token', async () => {
    const { wallet } = market.evm(3)
    const [usdt, weth, coin] = [await evmLeg('USDT0'), await evmLeg('WETH'), await evmLeg('MON')]
    expect(await wallet.objection(usdt)).toBeNull()
    expect(await wallet.objection({ ...usdt, asset: weth.asset })).toBe(
      `is asked for USDT0 with 6 decimals, but ${weth.asset} is WETH with 18`,
    )
    expect(await wallet.objection(as(usdt, { decimals: 18 }))).toMatch(/18 decimals, but .* USDT0 with 6$/)
    expect(await wallet.objection(as(coin, { name: 'USDT0' }))).toBe('does not know the coin of eip155:143 as USDT0')
    await expect(wallet.objection({ ...usdt, asset: DEV_PAYERS[0]!.address })).rejects.toMatchObject({
      money: 'not_moved',
    })
  })

  it('accepts USD₮0 as the symbol of USDT0', async () => {
    const node = await startFaultyProxy(market.chains.evm.url)
    const leg = await evmLeg('USDT0')
    const sign = encodeAbiParameters([{ type: 'string' }], ['USD₮0'])
    const symbol = encodeAbiParameters([{ type: 'string' }], ['USDT0'])
    node.always(/eth_call/, { lie: (answers) => JSON.parse(JSON.stringify(answers).replace(symbol, sign)) })
    const wallet = evmWallet({ rpcUrl: node.url, account: DEV_PAYERS[3]!.privateKey })
    expect(await wallet.objection(leg)).toBeNull()
    await node.stop()
  })

  it('objects to the coin of an unknown chain', async () => {
    const node = await startFaultyProxy(market.chains.evm.url)
    const other = JSON.stringify('0x1')
    node.always(/eth_chainId/, { lie: (answers) => JSON.parse(JSON.stringify(answers).replaceAll('"0x8f"', other)) })
    const wallet = evmWallet({ rpcUrl: node.url, account: DEV_PAYERS[3]!.privateKey })
    const leg = { ...(await evmLeg('MON')), network: 'eip155:1' }
    expect(await wallet.objection(leg)).toBe('does not know the coin of eip155:1 as MON')
    await node.stop()
  })
})

it('T-46 an EVM wallet reports the maximum network fee, and offers no more than was approved', async () => {
  const { wallet } = market.evm(3)
  const { accepts } = await market.client().quote({ units: 1, pay_network: 'evm-mainnet', pay_asset: 'USDC' })
  const leg = accepts[0]!
  const offered = ({ raw }: { raw: string }) => {
    const { gas = 0n, maxFeePerGas = 0n, maxPriorityFeePerGas = 0n } = parseTransaction(raw as `0x02${string}`)
    expect(maxPriorityFeePerGas <= maxFeePerGas).toBe(true)
    return gas * maxFeePerGas
  }
  const fee = await wallet.fee!(leg)
  expect(fee).toEqual({ amount: expect.any(BigInt), ticker: 'MON', decimals: 18 })
  const payment = await wallet.sign(leg, fee.amount)
  expect(offered(payment)).toBe(fee.amount)
  const little = (fee.amount * 19n) / 20n
  expect(offered(await wallet.sign(leg, little)) <= little).toBe(true)
  await expect(wallet.sign(leg, fee.amount / 2n)).rejects.toMatchObject({ money: 'not_moved' })
  const more = await wallet.fee!(leg, payment)
  expect(more.amount > fee.amount).toBe(true)
  expect(offered(await wallet.signInstead!(payment, leg, more.amount))).toBe(more.amount)
})

it('amountText formats amounts exactly as viem does', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 30n }), fc.integer({ min: 0, max: 18 }), (atomic, decimals) => {
      expect(amountText(atomic, decimals)).toBe(formatUnits(atomic, decimals))
    }),
  )
})

it.each([
  ['http://localhost:8899', true],
  ['http://chain:8545', true],
  ['http://[::1]:8545', true],
  ['http://[fd00:1::2]:8545', true],
  ['http://[2606:4700::1111]', false],
  ['http://[::ffff:8.8.8.8]', false],
  ['http://172.20.0.3:8545', true],
  ['http://172.40.0.3:8545', false],
  ['https://api.mainnet-beta.solana.com', false],
  ['https://localhost.example.com', false],
])('isPrivateHost of %s is %s', (url, expected) => {
  expect(isPrivateHost(url)).toBe(expected)
})

function withOtherBlockhash(message: Uint8Array): Uint8Array {
  const compiled = getCompiledTransactionMessageDecoder().decode(message)
  const lifetimeToken = DEMO_PAYERS[1]!.address
  return new Uint8Array(
    getCompiledTransactionMessageEncoder().encode({ ...compiled, lifetimeToken } as typeof compiled),
  )
}
