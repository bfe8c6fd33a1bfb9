// nginx on a folder: GET with sendfile, and PUT with its WebDAV module, which neither flushes nor hashes.

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ServerProcess } from '../server-process.ts'
import { debianProgram } from './debian.ts'
import { startNative } from './native.ts'

const PROGRAM = '/usr/sbin/nginx'

/** Returns null and logs the reason when nginx is unavailable. `facts` is the served folder. */
export async function startNginx(): Promise<(ServerProcess & { facts: string }) | null> {
  const program = await debianProgram('nginx', PROGRAM)
  if (!program) return null
  const folder = await mkdtemp(join(tmpdir(), 'svc-nginx-'))
  const files = join(folder, 'files')
  await mkdir(files)
  const configuration = join(folder, 'nginx.conf')
  const server = await startNative(
    program,
    async (port) => {
      await writeFile(configuration, configurationText(folder, files, port))
      return ['-p', folder, '-c', configuration]
    },
    () => rm(folder, { recursive: true }),
  )
  return { ...server, facts: files }
}

function configurationText(folder: string, files: string, port: number): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  return `
daemon off;
worker_processes 1;
pid ${folder}/pid;
error_log stderr error;
${process.getuid?.() === 0 ? 'user root;' : ''}
events { worker_connections 1024; }
http {
  access_log off;
  sendfile on;
  tcp_nopush on;
  keepalive_requests 1000000;
  client_max_body_size 0;
  ${temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join('\n  ')}
  server {
    listen 127.0.0.1:${port};
    root ${files};
    location / { dav_methods PUT DELETE; create_full_put_path on; }
  }
}
`
}
