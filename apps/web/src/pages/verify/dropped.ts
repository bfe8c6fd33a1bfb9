// Dropped or picked files and folders, with their paths.

import type { GivenFile } from './worker/messages.ts'

export interface Dropped {
  files: GivenFile[]
  /** Whether a folder was among them: its files are then taken as the complete set. */
  isComplete: boolean
}

/** Call it in the event handler: the dropped items are gone afterwards. */
export function readDrop({ items, files }: DataTransfer): Promise<Dropped> {
  const entries = [...items].map((item) => item.webkitGetAsEntry?.() ?? null)
  if (!entries.some((entry) => entry?.isDirectory)) return Promise.resolve({ files: ofList(files), isComplete: false })
  return readEntries(entries.filter((entry) => entry !== null))
}

export function readPicked(files: FileList, isComplete: boolean): Dropped {
  return { files: ofList(files), isComplete }
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
  return { files, isComplete: true }
}

/** Reads all entries: browsers return about a hundred per call. */
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
