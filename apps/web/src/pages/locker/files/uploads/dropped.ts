// Files from a drop or a picker, including all files in folders.

export interface ChosenFile {
  /** The path, including chosen folders. */
  path: string
  file: File
  /** Lets the page read the same file after a reload, if the browser supports it. */
  handle: FileSystemFileHandle | null
}

export interface Chosen {
  files: ChosenFile[]
  /** Paths of unreadable files and folders; folders end with a slash. */
  unreadable: string[]
}

/** Call it in the event handler: the dropped items are gone afterwards. */
export async function chosenByDrop(transfer: Pick<DataTransfer, 'items'>): Promise<Chosen> {
  const items = [...transfer.items].filter(({ kind }) => kind === 'file')
  const taken = items.map((item) => ({
    handle: (item as Partial<WithHandle>).getAsFileSystemHandle?.().catch(() => null) ?? null,
    entry: item.webkitGetAsEntry(),
    file: item.getAsFile(),
  }))
  const chosen: Chosen = { files: [], unreadable: [] }
  for (const { handle, entry, file } of taken) {
    const found = await handle
    if (found) await addHandle(chosen, '', found)
    else if (entry) await addEntry(chosen, '', entry)
    else if (file) chosen.files.push({ path: file.name, file, handle: null })
  }
  return chosen
}

/** Not every browser supports it, and TypeScript does not declare it yet. */
interface WithHandle {
  getAsFileSystemHandle(): Promise<FileSystemHandle | null>
}

export function chosenByPicker(files: FileList): Chosen {
  const chosen = [...files].map((file) => ({ path: file.webkitRelativePath || file.name, file, handle: null }))
  return { files: chosen, unreadable: [] }
}

/** Adds a file or folder; an unreadable one does not stop the others. */
async function addHandle(chosen: Chosen, parent: string, handle: FileSystemHandle): Promise<void> {
  const path = parent + handle.name
  if (handle.kind === 'file') {
    const file = handle as FileSystemFileHandle // by its kind
    await file.getFile().then(
      (bytes) => chosen.files.push({ path, file: bytes, handle: file }),
      () => chosen.unreadable.push(path),
    )
    return
  }
  const folder = handle as unknown as AsyncIterable<[string, FileSystemHandle]> // as folders are, by its kind
  try {
    for await (const [, child] of folder) await addHandle(chosen, `${path}/`, child)
  } catch {
    chosen.unreadable.push(`${path}/`)
  }
}

async function addEntry(chosen: Chosen, parent: string, entry: FileSystemEntry): Promise<void> {
  const path = parent + entry.name
  if (entry.isFile) {
    await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject)).then(
      (file) => chosen.files.push({ path, file, handle: null }),
      () => chosen.unreadable.push(path),
    )
    return
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader()
  try {
    // Each call returns some entries, and none at the end.
    for (;;) {
      const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject))
      if (some.length === 0) return
      for (const child of some) await addEntry(chosen, `${path}/`, child)
    }
  } catch {
    chosen.unreadable.push(`${path}/`)
  }
}
