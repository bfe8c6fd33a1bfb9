// The dependencies of a gateway under load, in a separate process: both chains behind nodes that can be slow, and a store
// that can be silent. The load process sends orders to switch them.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { honestly, startFaultyNode } from '@svc/devnet/faulty-node'
import { startLocalChains } from '@svc/devnet/local-chains'
import { startS3BucketServer } from '@svc/devnet/providers/s3-bucket/start'
import { s3Url } from '@svc/devnet/providers/store-urls'
import { reportTo } from '../server-process.ts'

const SLOW_CHAIN_MS = 4_000

const folder = await mkdtemp(join(tmpdir(), 'svc-load-'))
const chains = await startLocalChains({ landing: 'at once' })
const node = await startFaultyNode(chains.primary.url)
const store = await startS3BucketServer({ folder })

process.on('message', (order: string) => {
  if (order === 'slow chain') {
    node.behave(async (call) => {
      await setTimeout(SLOW_CHAIN_MS)
      return honestly(call)
    })
  }
  if (order === 'silent provider') store.fail({ at: /./, fault: 'silence' })
  if (order === 'behave') {
    node.behave(honestly)
    store.recover()
  }
})

reportTo(
  process,
  chains.primary.url,
  async () => {
    await Promise.all([store.stop(), node.stop(), chains.stop()])
    await rm(folder, { recursive: true })
  },
  {
    primary: { url: chains.primary.url },
    evm: { url: chains.evm.url },
    variables: {
      ...chains.variables,
      PRIMARY_RPC_URLS: node.url,
      STORJ: s3Url(store, `?region=${store.credentials.region}`),
    },
  },
)
