#!/bin/sh
# Draws every icon file from the SVG sources beside it.
# Needs rsvg-convert (librsvg2-bin), convert (imagemagick) and png2icns (icnsutils).
set -eu
cd "$(dirname "$0")"

draw() { # source, size, file, colour of the strokes
    style=$(mktemp)
    echo "svg { color: ${4:-#000} }" >"$style"
    rsvg-convert --width "$2" --height "$2" --stylesheet "$style" "$1" --output "$3"
    rm "$style"
    # Tauri wants RGBA; -strip keeps the files the same from run to run.
    convert "$3" -strip -define png:color-type=6 -define png:exclude-chunks=date,time "$3"
}

work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
for size in 16 24 32 48 64 128 256 512; do
    draw app.svg $size "$work/$size.png"
done
cp "$work/32.png" 32x32.png
cp "$work/128.png" 128x128.png
cp "$work/256.png" 128x128@2x.png
cp "$work/512.png" icon.png
convert "$work/16.png" "$work/24.png" "$work/32.png" "$work/48.png" "$work/64.png" "$work/256.png" icon.ico
png2icns icon.icns "$work/16.png" "$work/32.png" "$work/128.png" "$work/256.png" "$work/512.png" >/dev/null

# 44 px is 22 pt on a dense screen; trays scale it down. "light" is for panels known to be dark; "mid" can be seen on
# both, for panels nobody can ask. macOS takes only the shape.
for state in rest busy needs-you off; do
    draw tray/$state.svg 44 tray/$state-light.png '#f5f3ef'
    draw tray/$state.svg 44 tray/$state-mid.png '#8a8781'
done
