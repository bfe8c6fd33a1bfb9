import { appendFileSync, cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createSolanaRpc, getBase64EncodedWireTransaction, type Signature } from '@solana/kit'
import { getTransferSolInstruction } from '@solana-program/system'
import { getCloseAccountInstruction, getTransferInstruction } from '@solana-program/token'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { DEMO_PAYERS, TREASURY, tokenAccountOf } from '../../src/primary-chain/dev-accounts.ts'
import { call, send, sign, signerOf, startTestChain } from '../../src/primary-chain/dev-client.ts'
import { startProcess } from '../../src/start-process.ts'

/** The state file holds what has landed. */
const startChain = (options: Parameters<typeof startTestChain>[0]) => startTestChain({ landing: 'at once', ...options })

describe('the primary chain', () => {
  let folder: string
  let stateFile: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'primary-chain-'))
    stateFile = join(folder, 'deeper', 'chain.jsonl')
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  it('has its accounts, transactions, slot and blockhashes after a restart', async () => {
    const first = await startChain({ stateFile })
    const payer = await signerOf(DEMO_PAYERS[0]!)
    const pay = (amount: bigint) => getTransferSolInstruction({ source: payer, destination: TREASURY.address, amount })
    const [from, to] = [await tokenAccountOf(payer.address, 'BETA'), await tokenAccountOf(TREASURY.address, 'BETA')]
    const paid = await send(first.rpc, payer, [pay(123n)])
    const closed = await send(first.rpc, payer, [
      getTransferInstruction({ source: from, destination: to, authority: payer, amount: 1_000_000n }),
      getCloseAccountInstruction({ account: from, destination: payer.address, owner: payer }),
    ])
    first.chain.expireBlockhashes()
    const unsent = getBase64EncodedWireTransaction(await sign(first.rpc, payer, [pay(456n)]))
    const look = async ({ rpc }: typeof first) => ({
      slot: await rpc.getSlot({ commitment: 'processed' }).send(),
      height: await rpc.getBlockHeight({ commitment: 'processed' }).send(),
      treasury: (await rpc.getBalance(TREASURY.address, { commitment: 'processed' }).send()).value,
      beta: (await rpc.getTokenAccountBalance(to, { commitment: 'processed' }).send()).value,
      closed: (await rpc.getAccountInfo(from, { commitment: 'processed' }).send()).value,
      transactions: await Promise.all(
        [paid, closed].map((signature) =>
          rpc.getTransaction(signature, { encoding: 'json', maxSupportedTransactionVersion: 0 }).send(),
        ),
      ),
    })
    first.clock.time += 2_000
    const before = await look(first)
    expect(before.closed).toBeNull()
    expect(before.transactions.map((transaction) => transaction?.meta?.err)).toEqual([null, null])
    await first.stop()

    const second = await startChain({ stateFile, now: () => first.clock.time })
    expect(await look(second)).toEqual(before)
    await second.rpc.sendTransaction(unsent, { encoding: 'base64' }).send()
    await expect(second.rpc.sendTransaction(unsent, { encoding: 'base64' }).send()).rejects.toThrow()
    await second.stop()
  })

  it('loses nothing that it acknowledged when it is killed', { tags: ['nightly'] }, async () => {
    const first = await spawnChain()
    const acknowledged: string[] = []
    const pay = async () => {
      for (;;) {
        const { result } = await call(first.url, 'dev_faucet', [TREASURY.address, 'BETA', 1])
        acknowledged.push(result as string)
        if (acknowledged.length === 50) void first.kill()
      }
    }
    // Each waits for its confirmation.
    const paying = Promise.all(Array.from({ length: 10 }, pay))
    await expect(paying).rejects.toThrow()
    expect(acknowledged.length).toBeGreaterThanOrEqual(50)

    const second = await spawnChain()
    const rpc = createSolanaRpc(second.url)
    const { value } = await rpc.getSignatureStatuses(acknowledged as never, { searchTransactionHistory: true }).send()
    expect(value.every((status) => status !== null)).toBe(true)
    const beta = await tokenAccountOf(TREASURY.address, 'BETA')
    const balance = await rpc.getTokenAccountBalance(beta, { commitment: 'processed' }).send()
    expect(Number(balance.value.amount)).toBeGreaterThanOrEqual(acknowledged.length)
    expect(await second.kill('SIGTERM')).toMatchObject({ code: 0 })
  })

  it('has the same state from a snapshot and the lines after it as from all lines', { tags: ['nightly'] }, async () => {
    const first = await startChain({ stateFile })
    const pay = async (url: string, amount: number) =>
      (await call(url, 'dev_faucet', [TREASURY.address, 'BETA', amount])).result as string
    const signatures: string[] = []
    for (let i = 1; i <= 120; i++) signatures.push(await pay(first.url, i))
    first.chain.expireBlockhashes()
    await first.stop()
    expect(readdirSync(dirname(stateFile))).toEqual(['chain.jsonl', 'chain.jsonl.snapshot'])

    const second = await startChain({ stateFile, now: () => first.clock.time })
    for (let i = 1; i <= 5; i++) signatures.push(await pay(second.url, i))
    // A process that is killed now leaves these files.
    const killed = join(folder, 'killed')
    cpSync(dirname(stateFile), killed, { recursive: true })
    await second.stop()

    const look = async (file: string) => {
      const chain = await startChain({ stateFile: file, now: () => first.clock.time + 60_000 })
      const beta = await tokenAccountOf(TREASURY.address, 'BETA')
      const options = { encoding: 'json', maxSupportedTransactionVersion: 0 } as const
      const seen = {
        slot: await chain.rpc.getSlot().send(),
        height: await chain.rpc.getBlockHeight().send(),
        time: await chain.rpc.getBlockTime(440_208_010n).send(),
        balance: (await chain.rpc.getTokenAccountBalance(beta).send()).value.amount,
        history: await chain.rpc.getSignaturesForAddress(beta).send(),
        transactions: await Promise.all(
          signatures.map((signature) => chain.rpc.getTransaction(signature as Signature, options).send()),
        ),
        newest: (await chain.rpc.getLatestBlockhash().send()).value,
      }
      await chain.stop()
      return seen
    }
    const fromSnapshot = await look(join(killed, 'chain.jsonl'))
    expect(fromSnapshot.balance).toBe(String((120 * 121) / 2 + 15))
    expect(fromSnapshot.history).toHaveLength(125)
    expect(fromSnapshot.transactions.every((transaction) => transaction?.meta?.err === null)).toBe(true)
    writeFileSync(join(killed, 'chain.jsonl.snapshot'), '{"format":"svc primary chain snap')
    expect(await look(join(killed, 'chain.jsonl'))).toEqual(fromSnapshot)
  })

  it('drops the incomplete line that a killed process left', async () => {
    const first = await startChain({ stateFile })
    await call(first.url, 'dev_faucet', [TREASURY.address, 'BETA', 7])
    await first.stop()
    appendFileSync(stateFile, '{"time":1,"transaction":{"sign')
    const second = await startChain({ stateFile })
    await call(second.url, 'dev_faucet', [TREASURY.address, 'BETA', 8])
    await second.stop()
    const third = await startChain({ stateFile })
    const beta = await tokenAccountOf(TREASURY.address, 'BETA')
    const { value } = await third.rpc.getTokenAccountBalance(beta, { commitment: 'processed' }).send()
    expect(value.amount).toBe('15')
    await third.stop()
  })

  it('reports which file and line is damaged', async () => {
    const first = await startChain({ stateFile })
    await first.stop()
    writeFileSync(stateFile, `${readFileSync(stateFile, 'utf8')}garbage\n`)
    await expect(startChain({ stateFile })).rejects.toThrow(`${stateFile} is damaged at line 2: remove it`)
  })

  async function spawnChain() {
    const env = { DEV_PRIMARY_RPC_PORT: '0', DEV_PRIMARY_STATE_FILE: stateFile }
    const chain = startProcess(new URL('../../src/primary-chain/main.ts', import.meta.url), { env })
    const [url] = await chain.waitForLine(/http\S+/)
    return { ...chain, url }
  }
})
