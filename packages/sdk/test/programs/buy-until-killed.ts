// For tests: buys a locker with SOL and kills its own process at one of its effects.

import { createClient } from '../../src/client.ts'
import { fileJournal } from '../../src/node/file-journal.ts'
import { signerFromSeed } from '../../src/signers.ts'
import { solanaWallet } from '../../src/wallets/solana-wallet.ts'
import { type Interruption, interruptible } from '../effects.ts'

interface Task {
  baseUrl: string
  rpcUrl: string
  folder: string
  seed: string
  pinnedKeys: string[]
  intent: string
  interruption: Interruption
}

const { baseUrl, rpcUrl, folder, seed, pinnedKeys, intent, interruption } = JSON.parse(process.argv[2] ?? '') as Task
const signer = signerFromSeed(Buffer.from(seed, 'hex'))
const environment = interruptible(
  { fetch, journal: fileJournal(folder), wallet: solanaWallet({ rpcUrl, signer }) },
  interruption,
  async () => {
    process.kill(process.pid, 'SIGKILL')
    return new Promise<never>(() => {})
  },
)
const client = createClient({ baseUrl, signer, pinnedKeys, journal: environment.journal, fetch: environment.fetch })
await client.buy({ intent, units: 1, asset: 'SOL', wallet: environment.wallet })
