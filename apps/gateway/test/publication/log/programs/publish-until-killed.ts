// Publishes the log once, and kills itself at a step. Arguments: `<step> <number of times to pass it first>`.

import { openDatabase } from '@svc/database/open'
import { ed25519Signer } from '@svc/protocol/keys'
import { createLog } from '@svc/service/program/log'
import { openFolderFiles } from '@svc/storage/local/files'
import type { DocumentId } from '../../../../src/continuity/document-id.ts'
import { migrations } from '../../../../src/db/migrations.ts'
import type { Schema } from '../../../../src/db/schema.ts'
import { createPublish } from '../../../../src/publication/log/publish.ts'
import { CHECKPOINT, createPublished } from '../../../../src/publication/log/published.ts'
import { createWitnesses } from '../../../../src/publication/log/witnesses/witnesses.ts'

const { DATABASE_URL = '', LOG_STORE = '', LOG_KEY = '', LOG_ORIGIN = '' } = process.env
const [wanted, passes = '0'] = process.argv.slice(2)
let passesLeft = Number(passes)

function dieAt(step: string): void {
  if (step === wanted && passesLeft-- === 0) process.kill(process.pid, 'SIGKILL')
}

const database = await openDatabase<Schema, DocumentId>({ url: DATABASE_URL, migrations })
const signer = ed25519Signer(Buffer.from(LOG_KEY, 'hex'))
const folder = openFolderFiles(LOG_STORE)
const files: typeof folder = {
  read: folder.read,
  async write(name, bytes) {
    const kind = name === CHECKPOINT ? 'checkpoint' : 'tile'
    dieAt(`before ${kind}`)
    await folder.write(name, bytes)
    dieAt(`after ${kind}`)
  },
  async remove(name) {
    dieAt('before remove')
    await folder.remove(name)
    dieAt('after remove')
  },
}
const key = { name: LOG_ORIGIN, type: 'log' as const, publicKey: signer.publicKey }
const log = createLog('silent')
const published = createPublished(files, key)
const publish = createPublish({
  database: {
    ...database,
    commit: (work) =>
      database.commit((tx, recordDocuments) => {
        dieAt('place')
        return work(tx, recordDocuments)
      }),
  },
  files,
  witnesses: createWitnesses({ database, log, now: Date.now, policy: null, readTile: published.coveredTile }),
  identity: {
    key,
    signer: {
      ...signer,
      sign(message) {
        dieAt('sign')
        return signer.sign(message)
      },
    },
  },
  published,
  continuity: { requireCurrent: async () => dieAt('begin'), catchUp: async () => {}, compareAgain() {} },
  log,
  now: Date.now,
})
while (await publish());
await database.close()
console.log('published')
