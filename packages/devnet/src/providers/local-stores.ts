// A local store for each provider, with the setting that an admin would write for it.

import type { Provider } from '@svc/api/providers'
import { startArweaveServer } from './arweave/start.ts'
import { startFilecoinServer } from './filecoin/start.ts'
import { startFirestoreServer } from './firestore/start.ts'
import { startGcsServer } from './gcs/start.ts'
import { startMongodbServer } from './mongodb/start.ts'
import { startS3BucketServer } from './s3-bucket/start.ts'
import { gcsUrl, s3Url } from './store-urls.ts'

interface LocalStore {
  /** The setting of its provider. */
  url: string
  stop(): Promise<unknown>
}

const s3Bucket = async (folder: string): Promise<LocalStore> => {
  const server = await startS3BucketServer({ folder })
  return { url: s3Url(server), stop: server.stop }
}

export const LOCAL_STORES: Record<Provider, (folder: string) => Promise<LocalStore>> = {
  async gcs(folder) {
    const server = await startGcsServer({ folder })
    return { url: gcsUrl(server), stop: server.stop }
  },
  mongodb: (folder) => startMongodbServer({ folder }),
  storj: s3Bucket,
  async arweave() {
    const { uploadUrl, gateways, stop } = await startArweaveServer()
    const options = [['key', '07'.repeat(32)], ...gateways.map((gateway) => ['gateway', gateway])]
    return { url: `${uploadUrl}?${new URLSearchParams(options)}`, stop }
  },
  async filecoin(folder) {
    const { url, chainId, rpcUrl, recordKeeper, payee, stop } = await startFilecoinServer({ folder, looks: 0 })
    const options = { key: '5c'.repeat(32), chain: String(chainId), rpc: rpcUrl, record_keeper: recordKeeper, payee }
    return { url: `${url}?${new URLSearchParams(options)}`, stop }
  },
  async firestore() {
    const { address, stop } = await startFirestoreServer()
    return { url: `firestore:svc-test?emulator=${address}`, stop }
  },
}
