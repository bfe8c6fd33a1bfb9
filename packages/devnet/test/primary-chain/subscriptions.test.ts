import {
  assertIsTransactionWithBlockhashLifetime,
  createSolanaRpc,
  createSolanaRpcSubscriptions,
  getSignatureFromTransaction,
  sendAndConfirmTransactionFactory,
} from '@solana/kit'
import { getTransferSolInstruction } from '@solana-program/system'
import { forAllTests } from '@svc/devnet/for-tests'
import { describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { DEMO_PAYERS, TREASURY } from '../../src/primary-chain/dev-accounts.ts'
import { sign, signerOf } from '../../src/primary-chain/dev-client.ts'
import { startPrimaryChain } from '../../src/primary-chain/start.ts'

/** A chain, and a stock client for it. */
async function setUp() {
  const running = await startPrimaryChain({ port: 0 })
  const rpc = createSolanaRpc(running.url)
  const rpcSubscriptions = createSolanaRpcSubscriptions(running.webSocketUrl)
  const sendAndConfirm = sendAndConfirmTransactionFactory({ rpc, rpcSubscriptions })
  let amount = 1000n
  return {
    ...running,
    rpc,
    rpcSubscriptions,
    async pay() {
      const source = await signerOf(DEMO_PAYERS[0]!)
      const transfer = getTransferSolInstruction({ source, destination: TREASURY.address, amount: ++amount })
      const transaction = await sign(rpc, source, [transfer])
      assertIsTransactionWithBlockhashLifetime(transaction)
      await sendAndConfirm(transaction, { commitment: 'confirmed' })
      return { amount, signature: getSignatureFromTransaction(transaction) }
    },
  }
}

describe('the websocket interface of the primary chain', () => {
  const chain = forAllTests(() => setUp())

  it('lets a stock client send a transaction and wait until it is confirmed', async () => {
    const { signature } = await chain.pay()
    const { value } = await chain.rpc.getSignatureStatuses([signature]).send()
    expect(value[0]).toMatchObject({ confirmationStatus: 'confirmed', err: null })
  })

  it('notifies of an account, of logs that mention it, and of slots', async () => {
    const { rpc, rpcSubscriptions } = chain
    const stop = new AbortController()
    const config = { commitment: 'confirmed' } as const
    const [account, logs, slots] = await Promise.all([
      rpcSubscriptions.accountNotifications(TREASURY.address, config).subscribe({ abortSignal: stop.signal }),
      rpcSubscriptions
        .logsNotifications({ mentions: [TREASURY.address] }, config)
        .subscribe({ abortSignal: stop.signal }),
      rpcSubscriptions.slotNotifications().subscribe({ abortSignal: stop.signal }),
    ])
    const first = async <T>(notifications: AsyncIterable<T>) =>
      (await notifications[Symbol.asyncIterator]().next()).value as T
    const news = Promise.all([first(account), first(logs), first(slots)])
    const before = (await rpc.getBalance(TREASURY.address, config).send()).value
    const { amount, signature } = await chain.pay()
    const [changed, logged, slot] = await news
    expect(changed.value.lamports).toBe(before + amount)
    expect(logged.value).toMatchObject({ signature, err: null })
    expect(slot.slot).toBeGreaterThan(slot.parent)
    stop.abort()
  })

  it('answers what it does not know with an error, and goes on', async () => {
    const socket = new WebSocket(chain.webSocketUrl)
    await new Promise((resolve) => socket.once('open', resolve))
    const ask = (text: string) =>
      new Promise<{ result?: unknown; error?: { code: number } }>((resolve) => {
        socket.once('message', (data) => resolve(JSON.parse(String(data))))
        socket.send(text)
      })
    expect((await ask('{')).error?.code).toBe(-32700)
    expect((await ask('{"jsonrpc":"2.0","id":1,"method":"noSubscribe"}')).error?.code).toBe(-32601)
    expect((await ask('{"jsonrpc":"2.0","id":1,"method":"accountSubscribe","params":["x"]}')).error?.code).toBe(-32602)
    socket.terminate()
  })
})
