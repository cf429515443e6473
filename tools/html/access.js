"use strict";
(function () {
    var SVG = "http://www.w3.org/2000/svg", ROWS = 24;
    var spaces = ["global", "local", "shared", "constant", "texture"];

    function make(parent, name, attributes, text) {
        var e = document.createElementNS(SVG, name);
        for (var key in attributes)
            e.setAttribute(key, attributes[key]);
        if (text !== undefined)
            e.textContent = text;
        parent.appendChild(e);
        return e;
    }

    function html(parent, name, text, attributes) {
        var e = document.createElement(name);
        if (text !== undefined)
            e.textContent = text;
        for (var key in attributes || {})
            e.setAttribute(key, attributes[key]);
        parent.appendChild(e);
        return e;
    }

    /* The words of a warp's local memory lie side by side. */
    function spread(access) {
        var words = [];
        access.lanes.forEach(function (l) {
            for (var w = Math.floor(l.at / 4); w * 4 < l.at + access.bytes; w++)
                words.push({ lane: l.lane, at: w * 128 + l.lane * 4 });
        });
        access.lanes = words;
        access.bytes = 4;
    }

    /* What an option says: tools/html_access.c. */
    function read(value) {
        var v = value.split(" ").map(Number);
        var access = { space: v[0], bytes: v[1], parts: v[3], cta: v[4], warp: v[5], lanes: [] };
        for (var lane = 0, at = 6; lane < 32; lane++)
            if (v[2] >>> lane & 1)
                access.lanes.push({ lane: lane, at: v[at++] });
        if (access.space === 1)
            spread(access);
        return access;
    }

    /* Units of so many bytes that are accessed, in order, each with its lanes. */
    function units(access, size) {
        var found = new Map();
        access.lanes.forEach(function (l) {
            for (var u = Math.floor(l.at / size); u * size < l.at + access.bytes; u++) {
                if (!found.has(u))
                    found.set(u, []);
                found.get(u).push(l.lane);
            }
        });
        return Array.from(found.entries()).sort(function (a, b) { return a[0] - b[0]; });
    }

    function names(lanes) {
        return lanes.length > 3 ? lanes[0] + "…" + lanes[lanes.length - 1] : lanes.join(",");
    }

    function canvas(parent, height, label) {
        var frame = html(parent, "div", "", { class: "wide", tabindex: 0, role: "region", "aria-label": "Accesses" });
        var svg = make(frame, "svg", { class: "long", width: 1010, height: height, viewBox: "0 0 1010 " + height, role: "img",
                                        "aria-label": label });
        return svg;
    }

    /* Lines of 128 bytes, of four sectors each; the lanes inside them. */
    function drawSectors(parent, access, label) {
        var rows = new Map();
        units(access, 32).forEach(function (u) {
            var line = Math.floor(u[0] / 4);
            if (!rows.has(line))
                rows.set(line, []);
            rows.get(line).push(u);
        });
        var shown = Array.from(rows.keys()).slice(0, ROWS), svg = canvas(parent, 30 + 26 * shown.length, label);
        make(svg, "text", { x: 6, y: 18, class: "weak" }, "bytes");
        for (var s = 0; s < 4; s++)
            make(svg, "text", { x: 110 + 225 * s, y: 18, class: "weak" }, "sector " + s);
        shown.forEach(function (line, row) {
            var y = 28 + 26 * row;
            make(svg, "text", { x: 6, y: y + 15 }, "+" + line * 128);
            for (var s = 0; s < 4; s++)
                make(svg, "rect", { x: 100 + 225 * s, y: y, width: 220, height: 22, class: "cell" });
            rows.get(line).forEach(function (u) {
                make(svg, "rect", { x: 100 + 225 * (u[0] % 4), y: y, width: 220, height: 22, class: "used" });
                make(svg, "text", { x: 108 + 225 * (u[0] % 4), y: y + 15 },
                     (u[1].length > 1 ? "lanes " : "lane ") + names(u[1]));
            });
        });
        return rows.size - shown.length;
    }

    /* A column for each bank of four bytes, its words one below the other. */
    function drawBanks(parent, access, label) {
        var banks = [], most = 0;
        units(access, 4).forEach(function (u) {
            var bank = u[0] % 32;
            (banks[bank] = banks[bank] || []).push(u);
            most = Math.max(most, banks[bank].length);
        });
        var shown = Math.min(most, 32), svg = canvas(parent, 30 + 20 * shown, label);
        for (var bank = 0; bank < 32; bank++) {
            make(svg, "text", { x: 20 + 31 * bank, y: 18, "text-anchor": "middle", class: "weak" }, bank);
            (banks[bank] || []).slice(0, shown).forEach(function (u, row) {
                make(svg, "rect", { x: 6 + 31 * bank, y: 26 + 20 * row, width: 28, height: 18,
                                    class: row ? "clash" : "used" });
                make(svg, "text", { x: 20 + 31 * bank, y: 39 + 20 * row, "text-anchor": "middle" },
                     u[1].length > 1 ? u[1][0] + "+" : u[1][0]);
            });
        }
        return most - shown;
    }

    function putTable(parent, access) {
        var details = html(parent, "details"), isShared = access.space === 2;
        html(details, "summary", "As a table");
        var table = html(details, "table"), head = html(html(table, "thead"), "tr"), body = html(table, "tbody");
        ["lane", "byte", isShared ? "bank" : "sector"].forEach(function (name) {
            html(head, "th", name, { scope: "col" });
        });
        access.lanes.forEach(function (l) {
            var row = html(body, "tr");
            html(row, "th", l.lane, { scope: "row" });
            html(row, "td", l.at);
            html(row, "td", isShared ? Math.floor(l.at / 4) % 32 : Math.floor(l.at / 32));
        });
    }

    function draw(select) {
        var access = read(select.value), isShared = access.space === 2;
        var parent = document.getElementById(select.getAttribute("aria-controls"));
        var unit = isShared ? "wavefronts" : access.space === 3 ? "words" : "sectors";
        var label = new Set(access.lanes.map(function (l) { return l.lane; })).size + " lanes of warp " + access.warp + " of block " + access.cta + " access " +
            access.bytes + " bytes each of " + spaces[access.space] + " memory: " + access.parts + " " + unit;
        parent.textContent = "";
        html(parent, "p", label + ".");
        var left = (isShared ? drawBanks : drawSectors)(parent, access, label);
        if (left > 0)
            html(parent, "p", left + (isShared ? " more words of a bank" : " more lines of 128 bytes"), { class: "note" });
        putTable(parent, access);
    }

    document.querySelectorAll("select.access").forEach(function (select) {
        select.addEventListener("change", function () { draw(select); });
        draw(select);
    });
})();
