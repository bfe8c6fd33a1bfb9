// Keeps a nonce while no file may be written, and says whether the notes fail: then, after one more try, and with room.

import { execFileSync } from 'node:child_process'
import { createLog } from '@svc/http-service/log'
import { createNotes } from '../../../src/continuity/notes.ts'

const [folder = ''] = process.argv.slice(2)
const limitFiles = (limit: string) => execFileSync('prlimit', ['--pid', `${process.pid}`, `--fsize=${limit}:`])
const unused = undefined as never
const notes = createNotes({ folder, database: unused, log: createLog('silent'), now: () => 7 })
await notes.open('history')
limitFiles('0')
notes.keepNonce({ signer: 'a-wallet', nonce: 'c'.repeat(32), forget_at: 180 })
const isFailing = [notes.isFailing()]
await notes.tryAgain().catch(() => {})
isFailing.push(notes.isFailing())
limitFiles('unlimited')
await notes.tryAgain()
isFailing.push(notes.isFailing())
await notes.close()
console.log(JSON.stringify(isFailing))
