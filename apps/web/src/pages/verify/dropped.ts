// Files and folders that are dropped or picked, with their paths.

import type { GivenFile } from './worker/messages.ts'

export interface Dropped {
  files: GivenFile[]
  /** Whether a folder was among them: it is then taken for all there is. */
  isWhole: boolean
}

/** Must be called while the drop is handled: its items are gone afterwards. */
export function readDrop({ items, files }: DataTransfer): Promise<Dropped> {
  const entries = [...items].map((item) => item.webkitGetAsEntry?.() ?? null)
  if (!entries.some((entry) => entry?.isDirectory)) return Promise.resolve({ files: ofList(files), isWhole: false })
  return readEntries(entries.filter((entry) => entry !== null))
}

export function readPicked(files: FileList, isWhole: boolean): Dropped {
  return { files: ofList(files), isWhole }
}

function ofList(files: FileList): GivenFile[] {
  return [...files].map((file) => ({ path: file.webkitRelativePath || file.name, file }))
}

async function readEntries(entries: readonly FileSystemEntry[]): Promise<Dropped> {
  const files: GivenFile[] = []
  const waiting = [...entries]
  for (let entry = waiting.pop(); entry; entry = waiting.pop()) {
    if (entry.isDirectory) waiting.push(...(await childrenOf(entry as FileSystemDirectoryEntry)))
    else files.push({ path: entry.fullPath.replace(/^\//, ''), file: await fileOf(entry as FileSystemFileEntry) })
  }
  return { files, isWhole: true }
}

/** Browsers give a hundred or so at a time. */
async function childrenOf(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader()
  const all: FileSystemEntry[] = []
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject))
    if (some.length === 0) return all
    all.push(...some)
  }
}

function fileOf(entry: FileSystemFileEntry): Promise<File> {
  return new Promise((resolve, reject) => entry.file(resolve, reject))
}
