// Opens a logbook, notes one statement and one nonce, and waits to be killed.

import { openLogbook } from '../../../src/continuity/logbook.ts'

const [folder = '', history = ''] = process.argv.slice(2)
const logbook = await openLogbook(folder, history)
await logbook.append([{ kind: 'statement', proofId: 'a'.repeat(32), sequence: 1, digest: 'b'.repeat(64) }], 1)
logbook.keepNonce({ signer: 'a-wallet', nonce: 'c'.repeat(32), forget_at: 180 })
console.log('noted')
setInterval(() => {}, 1000)
