// The inputs with which operations on lockers, files and uploads succeed.

import type { NewS3Key, NewWalletS3Key } from '@svc/api/s3-credentials'
import type { Share } from '@svc/api/shares'
import type { TusToken } from '@svc/api/tus'
import type { UploadSession } from '@svc/api/upload-sessions'
import { ed25519Identity } from '@svc/devnet/services/signing'
import type { Given } from '../draft.ts'
import { envelopeOf, uploadToken } from './credentials.ts'
import { type GatewayFixture, type OwnedLocker, tokenOf } from './fixture.ts'

export type Recipes = Record<string, () => Given | Promise<Given>>

const HELLO = Buffer.from('hello')
const TUS = { 'Tus-Resumable': '1.0.0' }
const CHUNK = { ...TUS, 'Upload-Offset': '0', 'content-type': 'application/offset+octet-stream' }
const S3_KEY = { name: 'backup', access: 'write', expires_in_days: 30 }

export function lockerRecipes({ gateway, now, ask, main, locker, file }: GatewayFixture): Recipes {
  const base = gateway.context.config.http.baseUrl
  /** In a separate locker, so that its leftovers disturb no other request. */
  const fresh =
    (given: Given = {}) =>
    async (): Promise<Given> =>
      inLocker(await locker(), given)

  const ofWallet = (owner: OwnedLocker['owner'], given: Given = {}): Given => ({
    query: { wallet: owner.identity },
    credential: envelopeOf({ owner, lockerId: '', receiptId: '' }, now, { aud: base }),
    ...given,
  })

  return {
    listLockers: () => ofWallet(main.owner),
    refresh: () => ({ body: {} }),
    signedProvision: async () => ofReceipt(await locker()),
    provision: async () => ofReceipt(await locker()),
    addOperator: async () => inLocker(await locker(), { body: { pubkey: ed25519Identity().identity } }),
    async removeOperator() {
      const [made, pubkey] = [await locker(), ed25519Identity().identity]
      await ask('addOperator', inLocker(made, { body: { pubkey } }))
      return inLocker(made, { path: { pubkey } })
    },
    revokeAccess: fresh(),
    changePublicLink: fresh({ body: { action: 'rotate' } }),
    renameLocker: fresh({ body: { name: 'other' } }),
    changeAnchoring: fresh({ body: { anchoring: 'log' } }),
    createFile: fresh({ body: {} }),
    createFiles: fresh({ body: { files: [{ filename: 'a' }, {}] } }),
    async deleteFile() {
      const { filename, ...made } = await file()
      return inLocker(made, { path: { filename } })
    },
    async renameFiles() {
      const { filename, ...made } = await file()
      return inLocker(made, { body: { files: [{ filename, new_filename: 'c.txt' }] } })
    },
    fileUrls: () => ({ body: { filenames: [main.filename] } }),
    fetchAndStore: async () => ({ ...ofReceipt(await locker()), body: { source_url: 'https://example.com/a.txt' } }),
    async confirmFile() {
      const { filename, receiptId: receipt_id, credential } = await file()
      return { body: { receipt_id, filename }, credential }
    },
    async confirmFiles() {
      const { filename, receiptId: receipt_id, credential } = await file()
      return { body: { receipt_id, filenames: [filename] }, credential }
    },
    async createShare() {
      const { filename, ...made } = await file()
      return inLocker(made, { body: { path: filename } })
    },
    listShares: fresh(),
    async endShare() {
      const { filename, ...made } = await file()
      const { id } = await ask<Share>('createShare', inLocker(made, { body: { path: filename } }))
      return inLocker(made, { path: { share_id: id } })
    },
    listAccess: fresh(),
    mintS3Credentials: fresh({ body: {} }),
    createS3Key: fresh({ body: S3_KEY }),
    async revokeS3Key() {
      const made = await locker()
      const { access_key_id } = await ask<NewS3Key>('createS3Key', inLocker(made, { body: S3_KEY }))
      return inLocker(made, { path: { access_key_id } })
    },
    mintWalletS3Credentials: async () => ofWallet((await locker()).owner, { body: {} }),
    createWalletS3Key: async () => ofWallet((await locker()).owner, { body: S3_KEY }),
    listWalletS3Keys: () => ofWallet(main.owner),
    async revokeWalletS3Key() {
      const { owner } = await locker()
      const { access_key_id } = await ask<NewWalletS3Key>('createWalletS3Key', ofWallet(owner, { body: S3_KEY }))
      return ofWallet(owner, { path: { access_key_id } })
    },
  }
}

export function byteRecipes(fixture: GatewayFixture): Recipes {
  const { ask, main, locker, file } = fixture
  const read = () => ({ path: { receipt_id: main.receiptId, filename: main.filename } })
  const readShare = () => ({ path: { share_id: main.shareId, filename: main.filename } })
  const byToken =
    (name: string, given: Given = {}) =>
    async (): Promise<Given> => ({
      ...given,
      path: { token: tokenOf((await file()).urls[name]) },
    })

  async function session(): Promise<UploadSession> {
    const files = [{ filename: 'a.txt' }]
    return ask<UploadSession>('openUploadSession', inLocker(await locker(), { body: { files } }))
  }

  async function part(): Promise<Given> {
    const { session_id, upload_token, files } = await session()
    const credential = uploadToken(upload_token)
    const path = { session_id, file_id: files[0]?.file_id ?? '' }
    return { path, body: { index: 0, data: HELLO.toString('base64') }, credential }
  }

  async function withPart(): Promise<Given> {
    const given = await part()
    await ask('uploadPart', given)
    const { path, credential } = given as Required<Given>
    return { path: { session_id: path.session_id as string }, credential }
  }

  async function newUpload(): Promise<Given> {
    const made = await locker()
    const { headers } = await ask<TusToken>('createTusToken', inLocker(made, { body: {} }))
    const metadata = `filename ${Buffer.from('a.txt').toString('base64')}`
    return {
      path: { locker_id: made.lockerId },
      headers: { ...TUS, 'Upload-Length': String(HELLO.length), 'Upload-Metadata': metadata },
      credential: uploadToken(headers['X-Upload-Token']),
    }
  }

  async function upload(): Promise<Record<string, string>> {
    const { location } = await ask<Record<string, string>>('createTusUpload', await newUpload())
    return { upload_id: tokenOf(location) }
  }

  return {
    readByToken: byToken('download_url'),
    headReadByToken: byToken('download_url'),
    writeByToken: byToken('upload_url', { headers: { 'content-type': 'text/plain' }, body: HELLO }),
    deleteByToken: byToken('delete_url'),
    readPublicly: read,
    headReadPublicly: read,
    showShare: () => ({ path: { share_id: main.shareId } }),
    openShare: () => ({ path: { share_id: main.shareId } }),
    readShared: readShare,
    headReadShared: readShare,
    proveShared: readShare,
    openUploadSession: async () => inLocker(await locker(), { body: { files: [{ filename: 'a.txt' }] } }),
    uploadPart: part,
    finalizeUpload: withPart,
    readUploadSession: withPart,
    finalizeUploadJob: async () => ({ body: { session_id: (await session()).session_id } }),
    createTusToken: async () => inLocker(await locker(), { body: {} }),
    createTusUpload: newUpload,
    readTusUpload: async () => ({ path: await upload(), headers: TUS }),
    headReadTusUpload: async () => ({ path: await upload(), headers: TUS }),
    writeTusUpload: async () => ({ path: await upload(), headers: CHUNK, body: HELLO }),
    terminateTusUpload: async () => ({ path: await upload(), headers: TUS }),
    overrideTusMethod: async () => ({
      path: await upload(),
      headers: { ...CHUNK, 'X-HTTP-Method-Override': 'PATCH' },
      body: HELLO,
    }),
  }
}

function inLocker({ lockerId, credential }: OwnedLocker, { path, ...given }: Given): Given {
  return { ...given, path: { locker_id: lockerId, ...path }, credential }
}

function ofReceipt({ receiptId, credential }: OwnedLocker): Given {
  return { body: { receipt_id: receiptId }, credential }
}
