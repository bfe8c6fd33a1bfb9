// For tests: homes whose owner has a locker at a gateway behind a faulty proxy, or money to buy one.

import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { forAllTests } from '@svc/devnet/for-tests'
import { DEMO_PAYERS } from '@svc/devnet/primary-chain/dev-accounts'
import { toHex } from '@svc/protocol/bytes'
import { ed25519Signer } from '@svc/protocol/keys'
import { type Signer, signerFromSeed } from '@svc/sdk'
import { openTestbed, type Testbed } from '@svc/sdk/test/lockers'
import type { Market } from '@svc/sdk/test/market'
import { beforeEach } from 'vitest'
import { openHome, type TestHome } from './host.ts'

export interface LockerHome extends TestHome {
  testbed: Testbed
  signer: Signer
  receiptId: string
}

async function openLockerHome(): Promise<LockerHome> {
  const testbed = await openTestbed()
  const home = await openHome({ SVC_GATEWAY: testbed.proxy.url })
  const { file, signer } = await newWallet(home.folder, 'owner.json')
  const { receipt_id } = await testbed.locker(signer)
  const gatewayKey = toHex(testbed.gateway.context.signers.statement.publicKey)
  const settings = [
    ['lockers', 'add', receipt_id, '--name', 'photos'],
    ['config', 'set', 'wallet', file],
    ['keys', 'pin', gatewayKey],
  ]
  for (const args of settings) await home.ok(...args)
  return {
    ...home,
    testbed,
    signer,
    receiptId: receipt_id,
    async leave() {
      await testbed.close()
      await home.leave()
    },
  }
}

/** A locker home that the tests of a file share. Each begins without faults. */
export function useLockerHome(): LockerHome {
  const home = forAllTests(openLockerHome)
  beforeEach(() => {
    home.testbed.proxy.behave()
    home.testbed.proxy.seen.length = 0
  })
  return home
}

/** A home with the wallet of a payer, in `id.json`, and the gateway's key pinned. */
export function useBuyerHome(market: Market, env: () => Record<string, string> = () => ({})): TestHome {
  return forAllTests(async () => {
    const { proxy, chains } = market
    const nodes = { SVC_PRIMARY_RPC: chains.primary.url, SVC_EVM_RPC: chains.evm.url }
    const home = await openHome({ SVC_GATEWAY: proxy.url, ...nodes, ...env() })
    const { file } = await newWallet(home.folder, 'id.json', DEMO_PAYERS[0]!.privateKeyBytes)
    await home.ok('config', 'set', 'wallet', file)
    await home.ok('keys', 'pin', market.key)
    return home
  })
}

/** Writes a keypair file in the format of the Solana tools. */
export async function newWallet(
  folder: string,
  name: string,
  seed: Uint8Array = randomBytes(32),
): Promise<{ file: string; signer: Signer }> {
  const file = join(folder, name)
  await writeFile(file, JSON.stringify([...seed, ...ed25519Signer(seed).publicKey]), { mode: 0o600 })
  return { file, signer: signerFromSeed(seed) }
}
