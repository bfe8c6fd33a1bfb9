// For tests, loaded before the program: blocks every network call of the process and reports each attempt on stderr.

import dgram from 'node:dgram'
import dns from 'node:dns'
import { writeSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import net from 'node:net'

function shut(): never {
  writeSync(2, 'NETWORK\n')
  throw new Error('there is no network here')
}

net.Socket.prototype.connect = shut
dgram.Socket.prototype.send = shut
Object.assign(dns, { lookup: shut, resolve: shut })
Object.assign(dns.promises, { lookup: shut, resolve: shut })
syncBuiltinESMExports()
